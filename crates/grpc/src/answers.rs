//! Answers to pending questions. The first answer counts, whichever face it comes from.

use switchboard_store::{QueueError, UserDecision};
use tonic::Status;

use crate::access::AuthorizedCaller;
use crate::generated::v1::{
    AnswerElicitationRequest, AnswerReviewRequest, ElicitationAction, McpToolReviewResultType,
};
use crate::grpc_service::GrpcService;
use crate::values::from_struct;

impl GrpcService {
    pub(crate) async fn answer_review(
        &self,
        visitor: &AuthorizedCaller,
        request: AnswerReviewRequest,
    ) -> Result<(), Status> {
        use McpToolReviewResultType as Said;
        let said = Said::try_from(request.result)
            .map_err(|_| Status::invalid_argument("unknown `result`"))?;
        let given = match (said, request.arguments) {
            (Said::None, _) => return Err(Status::invalid_argument("missing `result`")),
            (Said::Run, None) if request.for_session => UserDecision::Session,
            (Said::Run, None) => UserDecision::Run,
            (Said::Run, Some(arguments)) => {
                visitor.require_owner("changing the arguments")?;
                UserDecision::RunWith(arguments)
            }
            (Said::AllowlistTool, _) => {
                visitor.require_owner("allowing a tool permanently")?;
                UserDecision::Always
            }
            (Said::Skip, _) => UserDecision::Skip,
            (Said::RejectAndTellWhatToDoDifferently, _) => match request.instead.trim() {
                // A rejection without instructions tells the model no more than a skip.
                "" => UserDecision::Skip,
                instead => UserDecision::Reject(instead.to_owned()),
            },
        };
        self.answer(visitor, &request.id, &request.digest, given).await
    }

    pub(crate) async fn answer_elicitation(
        &self,
        visitor: &AuthorizedCaller,
        request: AnswerElicitationRequest,
    ) -> Result<(), Status> {
        let given = match ElicitationAction::try_from(request.action) {
            Ok(ElicitationAction::Accept) => UserDecision::Accept(request.content.map(from_struct)),
            Ok(ElicitationAction::Decline) => UserDecision::Decline,
            Ok(ElicitationAction::Cancel) => UserDecision::Cancel,
            Ok(ElicitationAction::Unspecified) | Err(_) => {
                return Err(Status::invalid_argument("missing or unknown `action`"));
            }
        };
        self.answer(visitor, &request.id, &request.digest, given).await
    }

    async fn answer(
        &self,
        visitor: &AuthorizedCaller,
        id: &str,
        digest: &str,
        given: UserDecision,
    ) -> Result<(), Status> {
        // Same error for a foreign question as for an unknown one, so ids cannot be probed.
        if !visitor.is_owner() && !self.inner.hub.may_answer(id, visitor) {
            return Err(Status::not_found(format!("no pending question `{id}`")));
        }
        let by = format!("an editor ({})", visitor.name);
        let answered = self.host().reviews().answer(id, digest, given, &by).await;
        answered.map_err(|error| {
            let why = error.to_string();
            match error {
                QueueError::Unknown(_) => Status::not_found(why),
                QueueError::Over { .. } => Status::failed_precondition(why),
                QueueError::OtherDigest { .. } => Status::aborted(why),
                QueueError::DoesNotFit(_) => Status::invalid_argument(why),
                QueueError::Store { .. } => Status::unavailable(why),
            }
        })
    }
}
