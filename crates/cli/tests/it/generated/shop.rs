//! Typed calls of the tools of server `shop`.
//!
//! Made by `switchboard generate rust`; what is changed here is lost when it is made again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use switchboard_host::{CallError, Caller, Host, Reply};

/// The server's name in the configuration.
pub const SERVER: &str = "shop";

/// Places an order.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn place_order(
    host: &Host,
    caller: &Caller,
    arguments: &PlaceOrderArguments,
) -> Result<PlaceOrderOutput, CallError> {
    host.call_for(caller, SERVER, "place-order", arguments).await
}

/// Another one.
///
/// # Errors
/// When the call does not end with a result, or with one of another shape.
pub async fn place_order_2(
    host: &Host,
    caller: &Caller,
) -> Result<Reply, CallError> {
    host.call_for_content(caller, SERVER, "place_order", &()).await
}

/// An object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlaceOrderCustomer {
    /// The member "name".
    pub name: String,
    /// The member "referredBy".
    #[serde(rename = "referredBy", default, skip_serializing_if = "Option::is_none")]
    pub referred_by: Option<Box<PlaceOrderCustomer>>,
}

/// An object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlaceOrderLine {
    /// The member "count".
    pub count: u64,
    /// The member "item-id".
    #[serde(rename = "item-id")]
    pub item_id: String,
}

/// One of several words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlaceOrderArgumentsPayCardBy {
    /// The word "card".
    #[serde(rename = "card")]
    Card,
}

/// Card
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceOrderArgumentsPayCard {
    /// The member "by".
    pub by: PlaceOrderArgumentsPayCardBy,
    /// The member "number".
    pub number: String,
}

/// One of several words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlaceOrderArgumentsPayCashBy {
    /// The word "cash".
    #[serde(rename = "cash")]
    Cash,
}

/// Cash
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceOrderArgumentsPayCash {
    /// The member "by".
    pub by: PlaceOrderArgumentsPayCashBy,
}

/// One of several types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PlaceOrderArgumentsPay {
    /// As `PlaceOrderArgumentsPayCard`.
    Card(PlaceOrderArgumentsPayCard),
    /// As `PlaceOrderArgumentsPayCash`.
    Cash(PlaceOrderArgumentsPayCash),
}

/// One of several words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlaceOrderArgumentsType {
    /// The word "express".
    #[serde(rename = "express")]
    Express,
    /// The word "usual".
    #[serde(rename = "usual")]
    Usual,
    /// The word "2-day".
    #[serde(rename = "2-day")]
    N2Day,
}

/// One of several types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PlaceOrderArgumentsWhen {
    /// As `String`.
    Text(String),
    /// As `u64`.
    Number(u64),
}

/// The arguments of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceOrderArguments {
    /// The member "customer".
    pub customer: PlaceOrderCustomer,
    /// The member "extra".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
    /// What is bought.
    pub lines: Vec<PlaceOrderLine>,
    /// */ fn evil() {} /*
    /// ''
    /// evil();
    /// ''
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The member "pay".
    pub pay: PlaceOrderArgumentsPay,
    /// The member "tags".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, i64>>,
    /// Default: "usual".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<PlaceOrderArgumentsType>,
    /// The member "when".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<PlaceOrderArgumentsWhen>,
}

impl PlaceOrderArguments {
    /// With what is required, and nothing else.
    #[must_use]
    pub fn new(customer: PlaceOrderCustomer, lines: Vec<PlaceOrderLine>, pay: PlaceOrderArgumentsPay) -> Self {
        Self { customer, lines, pay, extra: Default::default(), note: Default::default(), tags: Default::default(), r#type: Default::default(), when: Default::default() }
    }
}

/// An object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlaceOrderOutputLinesItem {
    /// The member "gift".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gift: Option<bool>,
    /// The member "price".
    pub price: f64,
}

/// One of several words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlaceOrderOutputState {
    /// The word "taken".
    #[serde(rename = "taken")]
    Taken,
    /// The word "refused".
    #[serde(rename = "refused")]
    Refused,
}

/// The structured result of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceOrderOutput {
    /// The member "lines".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<PlaceOrderOutputLinesItem>>,
    /// The member "number".
    pub number: i64,
    /// The member "state".
    pub state: PlaceOrderOutputState,
    /// The member "total".
    pub total: f64,
}

impl PlaceOrderOutput {
    /// With what is required, and nothing else.
    #[must_use]
    pub fn new(number: i64, state: PlaceOrderOutputState, total: f64) -> Self {
        Self { number, state, total, lines: Default::default() }
    }
}
