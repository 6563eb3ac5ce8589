//! Classification of characters: invisible, reordering, homoglyphs of Latin letters.

use std::sync::LazyLock;

/// Returns whether a character is invisible or changes how others are displayed.
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns whether a character is ambiguous to a reader: an unusual space, a noncharacter, or a
/// private-use character, whose glyph depends on the font.
pub const fn is_ambiguous(c: char) -> bool {
    matches!(c,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffc}'
        | '\u{f0000}'..='\u{10ffff}')
        // The last two code points of every plane are noncharacters.
        || c as u32 & 0xfffe == 0xfffe
}

/// Returns whether a character selects the glyph variant of the previous one.
pub const fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns the ASCII character that a tag character encodes.
pub const fn tag_letter(c: char) -> Option<char> {
    match c {
        '\u{e0020}'..='\u{e007e}' => char::from_u32(c as u32 - 0xe0000),
        _ => None,
    }
}

/// Folds a character to the plain lower-case letter that a reader sees; `None` if it is invisible.
pub fn fold_char(c: char) -> Option<char> {
    if c.is_ascii() {
        return (!c.is_ascii_control() || c.is_ascii_whitespace()).then(|| c.to_ascii_lowercase());
    }
    if c.is_control() || is_hidden(c) || is_variation_selector(c) || is_combining_mark(c) {
        return None;
    }
    // Before lower-casing: capital Eta resembles `h`, but its lower case resembles `n`.
    if let Some(twin) = latin_homoglyph(c) {
        return Some(twin);
    }
    if c.is_whitespace() {
        return Some(' ');
    }
    let lower = c.to_lowercase().next().unwrap_or(c);
    Some(latin_homoglyph(lower).or_else(|| fold_style(lower)).unwrap_or(lower))
}

/// Returns the Latin letter that a letter of another script resembles.
fn latin_homoglyph(c: char) -> Option<char> {
    static SORTED: LazyLock<Vec<(char, char)>> = LazyLock::new(|| sort_variants(&HOMOGLYPHS));
    find_letter(&SORTED, c)
}

/// Returns the folded form of the first word that mixes Latin letters with homoglyphs.
pub fn mixed_script_reading(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let mixed = text.split(|c: char| !c.is_alphanumeric()).find(|word| is_mixed_script(word))?;
    Some(mixed.chars().filter_map(fold_char).collect())
}

/// Returns whether a word mixes Latin letters with homoglyphs of another script, and has no other
/// letters of that script.
pub fn is_mixed_script(word: &str) -> bool {
    if word.is_ascii() {
        return false;
    }
    let mut latin = 0;
    let mut twins = 0;
    let mut others = 0;
    for c in word.chars() {
        match c {
            _ if c.is_ascii_alphabetic() => latin += 1,
            _ if latin_homoglyph(c).is_some() => twins += 1,
            _ if c.is_alphabetic() && fold_char(c).is_some_and(|c| !c.is_ascii()) => others += 1,
            _ => {}
        }
    }
    // A letter without a Latin twin reveals the script to the reader, so it cannot deceive.
    latin > 0 && twins > 0 && latin + twins > 2 && others == 0
}

/// Returns whether a character is a mark drawn over or under the previous letter.
pub(crate) const fn is_combining_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Returns whether a character has a canonical alternative: a separate combining mark, a part of a
/// syllable, or a compatibility variant of a letter (wide, bold, circled, ligature, superscript).
pub const fn is_noncanonical(c: char) -> bool {
    is_combining_mark(c)
        || matches!(c, '\u{483}'..='\u{489}' | '\u{1100}'..='\u{11ff}' | '\u{2070}'..='\u{209f}'
            | '\u{2100}'..='\u{218f}' | '\u{2460}'..='\u{24ff}' | '\u{3099}' | '\u{309a}'
            | '\u{3131}'..='\u{318e}' | '\u{3200}'..='\u{33ff}' | '\u{f900}'..='\u{faff}'
            | '\u{fb00}'..='\u{fb06}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff01}'..='\u{ffef}'
            | '\u{1d400}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f1ff}')
}

/// Folds styled Latin letters: wide, bold, circled, squared, accented.
fn fold_style(c: char) -> Option<char> {
    let code = u32::from(c);
    let letter = |offset: u32| char::from_u32(0x61 + offset % 26);
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(code - 0xfee0).map(|c| c.to_ascii_lowercase()),
        '\u{1d400}'..='\u{1d6a3}' => letter(code - 0x1d400),
        '\u{1d7ce}'..='\u{1d7ff}' => char::from_u32(0x30 + (code - 0x1d7ce) % 10),
        '\u{249c}'..='\u{24b5}' => letter(code - 0x249c),
        '\u{24b6}'..='\u{24e9}' => letter(code - 0x24b6),
        '\u{1f130}'..='\u{1f149}' => letter(code - 0x1f130),
        '\u{1f150}'..='\u{1f169}' => letter(code - 0x1f150),
        '\u{1f170}'..='\u{1f189}' => letter(code - 0x1f170),
        '\u{1f1e6}'..='\u{1f1ff}' => letter(code - 0x1f1e6),
        '\u{2018}' | '\u{2019}' | '\u{2bc}' => Some('\''),
        '\u{201c}' | '\u{201d}' => Some('"'),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => Some('-'),
        '\u{2044}' | '\u{2215}' => Some('/'),
        '。' | '｡' => Some('.'),
        _ => fold_accent(c),
    }
}

/// Folds an accented, superscript or subscript letter or digit.
fn fold_accent(c: char) -> Option<char> {
    static SORTED: LazyLock<Vec<(char, char)>> = LazyLock::new(|| sort_variants(&ACCENTED));
    find_letter(&SORTED, c)
}

// The tables are grouped by letter for reading, and sorted once by variant for the search.
fn sort_variants(table: &[(char, &str)]) -> Vec<(char, char)> {
    let all = table.iter().flat_map(|(letter, odd)| odd.chars().map(move |c| (c, *letter)));
    let mut all: Vec<(char, char)> = all.collect();
    all.sort_unstable();
    all
}

fn find_letter(sorted: &[(char, char)], c: char) -> Option<char> {
    let at = sorted.binary_search_by_key(&c, |(odd, _)| *odd).ok()?;
    sorted.get(at).map(|(_, letter)| *letter)
}

/// Letters and digits with their accented, stroked, superscript and subscript variants.
const ACCENTED: [(char, &str); 36] = [
    ('0', "⁰₀⓪🯰"),
    ('1', "¹₁①🯱"),
    ('2', "²₂②🯲"),
    ('3', "³₃③🯳"),
    ('4', "⁴₄④🯴"),
    ('5', "⁵₅⑤🯵"),
    ('6', "⁶₆⑥🯶"),
    ('7', "⁷₇⑦🯷"),
    ('8', "⁸₈⑧🯸"),
    ('9', "⁹₉⑨🯹"),
    ('a', "ªàáâãäåāăąǎǟǡǻȁȃȧᴬᵃḁạảấầẩẫậắằẳẵặₐⱥ"),
    ('b', "ᴮᵇḃḅḇℬƀɓ"),
    ('c', "çćĉċčᶜḉℂℭⅽꟲȼƈ"),
    ('d', "ďᴰᵈḋḍḏḑḓⅅⅆⅾđðɖɗƌ"),
    ('e', "èéêëēĕėęěȅȇȩᴱᵉḕḗḙḛḝẹẻẽếềểễệₑℯℰⅇɇ"),
    ('f', "ᶠḟℱꟳƒ"),
    ('g', "ĝğġģǧǵᴳᵍḡℊǥɠɡ"),
    ('h', "ĥȟʰᴴḣḥḧḩḫẖₕℋℌℍℎħɦⱨ"),
    ('i', "ìíîïĩīĭįİǐȉȋᴵᵢḭḯỉịⁱℐℑℹⅈⅰɨı"),
    ('j', "ĵǰʲᴶⅉⱼɉ"),
    ('k', "ķǩᴷᵏḱḳḵₖƙⱪ"),
    ('l', "ĺļľˡᴸḷḹḻḽₗℒℓⅼłƚɫɬⱡ"),
    ('m', "ᴹᵐḿṁṃₘℳⅿ"),
    ('n', "ñńņňǹᴺṅṇṉṋⁿₙℕɲƞŋ"),
    ('o', "ºòóôõöōŏőơǒǫǭȍȏȫȭȯȱᴼᵒṍṏṑṓọỏốồổỗộớờởỡợₒℴøɵ"),
    ('p', "ᴾᵖṕṗₚℙƥᵽ"),
    ('q', "ℚꟴ𐞥ɋʠ"),
    ('r', "ŕŗřȑȓʳᴿᵣṙṛṝṟℛℜℝɍɽɼ"),
    ('s', "śŝşšſșˢṡṣṥṧṩẛₛʂ"),
    ('t', "ţťțᵀᵗṫṭṯṱẗₜŧƫƭʈⱦ"),
    ('u', "ùúûüũūŭůűųưǔǖǘǚǜȕȗᵁᵘᵤṳṵṷṹṻụủứừửữựʉ"),
    ('v', "ᵛᵥṽṿⅴⱽʋⱴ"),
    ('w', "ŵʷᵂẁẃẅẇẉẘⱳ"),
    ('x', "ˣẋẍₓⅹ"),
    ('y', "ýÿŷȳʸẏẙỳỵỷỹɏƴ"),
    ('z', "źżžᶻẑẓẕℤℨƶȥʐⱬ"),
];

/// Latin letters with their homoglyphs in other scripts.
const HOMOGLYPHS: [(char, &str); 26] = [
    ('a', "ɑΑαАаᎪᴀ⍺ꓮ"),
    ('b', "ʙΒВᏴꓐ"),
    ('c', "ϲСсᏟᴄꓚ"),
    ('d', "ԀԁᎠᴅꓓ"),
    ('e', "ΕεЕеᎬᴇꓰ"),
    ('f', "ꓝꜰ"),
    ('g', "ɡɢᏀꓖ"),
    ('h', "ʜΗНһᎻꓧ"),
    ('i', "ɩɪΙιІіӀᎥᏆℹⅰ⍳ꓲ"),
    ('j', "ϳЈјᎫᴊꓙ"),
    ('k', "ΚκКᏦᴋꓗ"),
    ('l', "ʟӏᏞℓⅼꓡ"),
    ('m', "ΜМᎷᴍꓟ"),
    ('n', "ɴΝηոꓠ"),
    ('o', "ΟοОоՕօᴏꓳ"),
    ('p', "ΡρРрᏢᴘ⍴ꓑ"),
    ('q', "ǫԚԛ"),
    ('r', "ʀᏒꓣ"),
    ('s', "ЅѕᏚꓢꜱ"),
    ('t', "ΤτТᎢᴛꓔ"),
    ('u', "υՍսᴜꓴ"),
    ('v', "νѴѵᏙᴠꓦ"),
    ('w', "ԜԝᏔᴡꓪ"),
    ('x', "ΧχХхꓫ"),
    ('y', "ʏΥγУуүᎽꓬ"),
    ('z', "ΖЗᏃᴢꓜ"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_twins_is_in_order() {
        for table in [sort_variants(&HOMOGLYPHS), sort_variants(&ACCENTED)] {
            assert!(table.windows(2).all(|pair| pair[0].0 < pair[1].0));
        }
    }

    #[test]
    fn letters_in_any_dress_are_the_same_letter() {
        for (odd, expected) in [
            ("IGNORE", "ignore"),
            ("іgnоrе", "ignore"),
            ("𝐢𝐠𝐧𝐨𝐫𝐞", "ignore"),
            ("ｉｇｎｏｒｅ", "ignore"),
            ("ⓘⓖⓝⓞⓡⓔ", "ignore"),
            ("ɪɢɴᴏʀᴇ", "ignore"),
            ("i\u{200b}g\u{ad}n\u{301}óre", "ignore"),
            ("größe", "große"),
        ] {
            assert_eq!(odd.chars().filter_map(fold_char).collect::<String>(), expected);
        }
    }

    #[test]
    fn a_word_of_two_alphabets_is_told_by_what_it_is_taken_for() {
        for (text, expected) in [
            ("send_emаil", Some("email")),
            ("https://pаypal.example/", Some("paypal")),
            ("größe", None),
            ("привет", None),
            ("file.txt", None),
            ("α-version", None),
        ] {
            assert_eq!(mixed_script_reading(text).as_deref(), expected, "{text}");
        }
    }
}
