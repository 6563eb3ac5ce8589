//! Full-text search for tools, for catalogs too long to show whole.

use switchboard_text::{for_each_part, for_each_word, is_stop_word, stem};

use crate::search_build::SearchIndexBuilder;

// Bounds the cost of a search, which models may start with whole paragraphs.
const MAX_QUERY_WORDS: usize = 64;
const MAX_COMPLETIONS: usize = 256;
const MIN_PREFIX_LEN: usize = 2;
// For completions if the last word is not itself a term of the catalog.
const UNFINISHED_WEIGHT: f32 = 0.6;
// For completions if the last word is a term of the catalog, and so may be complete.
const FINISHED_WEIGHT: f32 = 0.1;

/// A tool as an input of the search index.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchDocument<'a> {
    pub server: &'a str,
    pub name: &'a str,
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    pub parameters: &'a [SearchParameter<'a>],
}

/// A parameter as an input of the search index.
#[derive(Debug, Clone, Copy, Default)]
pub struct SearchParameter<'a> {
    pub name: &'a str,
    pub description: Option<&'a str>,
}

/// A search result with its relevance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchHit {
    /// Index of the tool in the list that the index was built from.
    pub document: usize,
    /// Relevance; comparable only within one search.
    pub score: f32,
}

/// An inverted index over the words of a catalog, ranked by BM25.
#[derive(Debug, Clone, Default)]
pub struct SearchIndex {
    // Terms are sorted in one string and postings are in flat lists: a catalog of tens of thousands
    // of tools takes a few megabytes, and a prefix is a range of terms.
    pub(crate) letters: String,
    /// Start of each term in `letters`; one more entry than terms.
    pub(crate) letter_starts: Vec<u32>,
    /// Start of each term's postings; one more entry than terms.
    pub(crate) posting_starts: Vec<u32>,
    pub(crate) posting_documents: Vec<u32>,
    /// BM25 weight of a term in a document, in units of [`SearchIndex::IMPACT_UNIT`].
    pub(crate) posting_impacts: Vec<u16>,
    /// Digests of whole names with their document, sorted.
    pub(crate) names: Vec<(u64, u32)>,
    pub(crate) documents: usize,
}

impl SearchIndex {
    // Chosen so that the largest impact fits in 16 bits.
    pub(crate) const IMPACT_UNIT: f32 = 2.5 / 65_535.0;

    /// Builds the index. Hits refer to documents by position.
    #[must_use]
    pub fn build<'a>(documents: impl IntoIterator<Item = SearchDocument<'a>>) -> Self {
        let mut builder = SearchIndexBuilder::default();
        for document in documents {
            builder.add(&document);
        }
        builder.finish()
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.documents
    }

    /// Returns whether the index has no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Returns the memory used by the index, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.letters.capacity()
            + 4 * (self.letter_starts.capacity() + self.posting_starts.capacity())
            + 4 * self.posting_documents.capacity()
            + 2 * self.posting_impacts.capacity()
            + size_of::<(u64, u32)>() * self.names.capacity()
    }

    /// Returns the best matches for a query, best first.
    ///
    /// A document whose name equals the query ranks first. The last word is treated as a prefix
    /// unless a separator follows it.
    #[must_use]
    pub(crate) fn search(&self, query: &str, limit: usize) -> Vec<SearchHit> {
        if limit == 0 || self.is_empty() {
            return Vec::new();
        }
        let question = SearchQuery::parse(query);
        let mut scores = vec![0.0_f32; self.documents];
        for word in &question.stems {
            if let Ok(term) = self.find(word) {
                self.add_term(term, 1.0, &mut scores);
            }
        }
        if let Some(prefix) = &question.unfinished {
            self.add_completions(prefix, &mut scores);
        }
        self.boost_exact_names(query, &mut scores);
        best_hits(&scores, limit)
    }

    fn term(&self, term: usize) -> &str {
        range(&self.letter_starts, term).and_then(|range| self.letters.get(range)).unwrap_or("")
    }

    fn terms(&self) -> usize {
        self.letter_starts.len().saturating_sub(1)
    }

    /// Returns the position of a term, or its insertion point.
    fn find(&self, word: &str) -> Result<usize, usize> {
        let mut low = 0;
        let mut high = self.terms();
        while low < high {
            let middle = low.midpoint(high);
            match self.term(middle).cmp(word) {
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    fn add_term(&self, term: usize, weight: f32, scores: &mut [f32]) {
        let Some(range) = range(&self.posting_starts, term) else { return };
        let frequency = range.len() as f32;
        let rarity = (1.0 + (self.documents as f32 - frequency + 0.5) / (frequency + 0.5)).ln();
        let factor = weight * rarity * Self::IMPACT_UNIT;
        let documents = self.posting_documents.get(range.clone()).unwrap_or_default();
        let impacts = self.posting_impacts.get(range).unwrap_or_default();
        for (document, impact) in documents.iter().zip(impacts) {
            if let Some(score) = scores.get_mut(*document as usize) {
                *score += factor * f32::from(*impact);
            }
        }
    }

    fn add_completions(&self, prefix: &str, scores: &mut [f32]) {
        let stemmed = stem(prefix);
        let weight = if self.find(stemmed).is_ok() { FINISHED_WEIGHT } else { UNFINISHED_WEIGHT };
        let first = self.find(prefix).unwrap_or_else(|place| place);
        for term in (first..self.terms()).take(MAX_COMPLETIONS) {
            let word = self.term(term);
            if !word.starts_with(prefix) {
                break;
            }
            if word != stemmed {
                self.add_term(term, weight, scores);
            }
        }
    }

    /// Ranks documents whose whole name equals the query above all others.
    fn boost_exact_names(&self, query: &str, scores: &mut [f32]) {
        let digest = name_digest([query]);
        let first = self.names.partition_point(|entry| entry.0 < digest);
        let same = self.names.iter().skip(first).take_while(|entry| entry.0 == digest);
        let top = scores.iter().copied().fold(0.0, f32::max);
        // Add to the score instead of replacing it, so that several exact matches stay ranked.
        for (_, document) in same {
            if let Some(score) = scores.get_mut(*document as usize).filter(|score| **score <= top) {
                *score += top + 1.0;
            }
        }
    }
}

fn range(starts: &[u32], index: usize) -> Option<std::ops::Range<usize>> {
    Some(*starts.get(index)? as usize..*starts.get(index + 1)? as usize)
}

/// Returns a digest of a name, ignoring case and separators.
pub(crate) fn name_digest<'a>(pieces: impl IntoIterator<Item = &'a str>) -> u64 {
    // FNV-1a suffices: names whose digests collide are only ranked together.
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    for piece in pieces {
        for_each_part(piece, |part| {
            for byte in part.bytes() {
                digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        });
    }
    digest
}

struct SearchQuery {
    stems: Vec<String>,
    unfinished: Option<String>,
}

impl SearchQuery {
    fn parse(query: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        for_each_word(query, |word| {
            if words.len() < MAX_QUERY_WORDS {
                words.push(word.to_owned());
            }
        });
        let ends_in_word = query.chars().next_back().is_some_and(char::is_alphanumeric);
        let unfinished = words
            .last()
            .filter(|word| ends_in_word && word.len() >= MIN_PREFIX_LEN && !is_stop_word(word))
            .cloned();
        let mut stems: Vec<String> = Vec::new();
        let telling = words.iter().any(|word| !is_stop_word(word));
        for word in words.iter().filter(|word| !telling || !is_stop_word(word)) {
            let stem = stem(word);
            if !stems.iter().any(|known| known == stem) {
                stems.push(stem.to_owned());
            }
        }
        Self { stems, unfinished }
    }
}

/// Returns the highest scores, best first. Ties keep the order of the documents.
fn best_hits(scores: &[f32], limit: usize) -> Vec<SearchHit> {
    let by_rank = |left: &SearchHit, right: &SearchHit| {
        right.score.total_cmp(&left.score).then(left.document.cmp(&right.document))
    };
    let found = scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
    let mut hits: Vec<SearchHit> =
        found.map(|(document, score)| SearchHit { document, score: *score }).collect();
    if hits.len() > limit {
        hits.select_nth_unstable_by(limit, by_rank);
        hits.truncate(limit);
    }
    hits.sort_unstable_by(by_rank);
    hits
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
