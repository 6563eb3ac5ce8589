//! Builds the search index: counts words per field, then writes flat lists.

use std::collections::HashMap;

use switchboard_text::{for_each_word, is_stop_word, stem};

use crate::search::{SearchDocument, SearchIndex, name_digest};

const NAME_WEIGHT: f32 = 3.0;
const TITLE_WEIGHT: f32 = 2.0;
const TEXT_WEIGHT: f32 = 1.0;
// Per tool. A server must not make the index large with one endless description.
const MAX_FIELD_WORDS: usize = 1_000;
// BM25 `k1`: how fast repetitions of a word lose weight.
const SATURATION: f32 = 1.2;
// BM25 `b`: how strongly long documents are penalized.
const LENGTH_NORMALIZATION: f32 = 0.5;

/// Collects the words of documents, one document at a time.
#[derive(Debug, Default)]
pub(crate) struct SearchIndexBuilder {
    vocabulary: HashMap<Box<str>, u32>,
    /// Term, document and weighted count, in document order.
    counts: Vec<(u32, u32, f32)>,
    lengths: Vec<f32>,
    names: Vec<(u64, u32)>,
    scratch: Vec<(u32, f32)>,
}

impl SearchIndexBuilder {
    pub(crate) fn add(&mut self, document: &SearchDocument<'_>) {
        let Ok(number) = u32::try_from(self.lengths.len()) else { return };
        self.scratch.clear();
        self.add_field(document.name, NAME_WEIGHT);
        self.add_field(document.title.unwrap_or_default(), TITLE_WEIGHT);
        self.add_field(document.server, TEXT_WEIGHT);
        self.add_field(document.description.unwrap_or_default(), TEXT_WEIGHT);
        for parameter in document.parameters {
            self.add_field(parameter.name, TEXT_WEIGHT);
            self.add_field(parameter.description.unwrap_or_default(), TEXT_WEIGHT);
        }
        self.lengths.push(self.scratch.iter().map(|(_, weight)| weight).sum());
        self.scratch.sort_unstable_by_key(|(term, _)| *term);
        for run in self.scratch.chunk_by(|left, right| left.0 == right.0) {
            if let Some((term, _)) = run.first() {
                let count = run.iter().map(|(_, weight)| weight).sum();
                self.counts.push((*term, number, count));
            }
        }
        self.names.push((name_digest([document.name]), number));
        // A query may also be the full name, such as `files/read`.
        self.names.push((name_digest([document.server, document.name]), number));
    }

    fn add_field(&mut self, text: &str, weight: f32) {
        let Self { vocabulary, scratch, .. } = self;
        for_each_word(text, |word| {
            // Stop words stay searchable in names and titles, which have few words.
            if scratch.len() >= MAX_FIELD_WORDS || (weight < TITLE_WEIGHT && is_stop_word(word)) {
                return;
            }
            let word = stem(word);
            let term = vocabulary.get(word).copied().unwrap_or_else(|| {
                let term = u32::try_from(vocabulary.len()).unwrap_or(u32::MAX);
                vocabulary.insert(word.into(), term);
                term
            });
            scratch.push((term, weight));
        });
    }

    pub(crate) fn finish(mut self) -> SearchIndex {
        let mut index = SearchIndex { documents: self.lengths.len(), ..SearchIndex::default() };
        let places = self.lay_out_terms(&mut index);
        self.lay_out_postings(&places, &mut index);
        self.names.sort_unstable();
        self.names.dedup();
        self.names.shrink_to_fit();
        index.names = self.names;
        index
    }

    /// Writes the terms in alphabetical order and returns the position of each.
    fn lay_out_terms(&self, index: &mut SearchIndex) -> Vec<u32> {
        let mut terms: Vec<(&str, u32)> =
            self.vocabulary.iter().map(|(word, term)| (&**word, *term)).collect();
        terms.sort_unstable();
        let mut places = vec![0; terms.len()];
        index.letters.reserve_exact(terms.iter().map(|(word, _)| word.len()).sum());
        index.letter_starts = Vec::with_capacity(terms.len() + 1);
        index.letter_starts.push(0);
        for (place, (word, term)) in (0_u32..).zip(terms) {
            index.letters.push_str(word);
            index.letter_starts.push(u32::try_from(index.letters.len()).unwrap_or(u32::MAX));
            if let Some(slot) = places.get_mut(term as usize) {
                *slot = place;
            }
        }
        places
    }

    fn lay_out_postings(&self, places: &[u32], index: &mut SearchIndex) {
        let place_of = |term: u32| places.get(term as usize).map_or(0, |place| *place as usize);
        let mut starts = vec![0_u32; places.len() + 1];
        for (term, ..) in &self.counts {
            if let Some(count) = starts.get_mut(place_of(*term) + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut next = starts.clone();
        index.posting_starts = starts;
        index.posting_documents = vec![0; self.counts.len()];
        index.posting_impacts = vec![0; self.counts.len()];
        let average = self.lengths.iter().sum::<f32>() / self.lengths.len().max(1) as f32;
        for (term, document, count) in &self.counts {
            let Some(slot) = next.get_mut(place_of(*term)) else { continue };
            let at = *slot as usize;
            *slot += 1;
            let length = self.lengths.get(*document as usize).copied().unwrap_or(average);
            if let Some(place) = index.posting_documents.get_mut(at) {
                *place = *document;
            }
            if let Some(place) = index.posting_impacts.get_mut(at) {
                *place = impact(*count, length / average.max(1.0));
            }
        }
    }
}

fn impact(count: f32, relative_length: f32) -> u16 {
    let held_back =
        SATURATION * (1.0 - LENGTH_NORMALIZATION + LENGTH_NORMALIZATION * relative_length);
    let impact = count * (SATURATION + 1.0) / (count + held_back);
    // The cast saturates, and the impact is below `SATURATION + 1`.
    (impact / SearchIndex::IMPACT_UNIT) as u16
}
