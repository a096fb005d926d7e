//! A handler of a request behind one type.
//!
//! The router's code is generic over the handler. With sixty handlers of one type each it was
//! compiled sixty times, which was a fifth of the time of compiling this crate.

use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts as _, Request};
use axum::handler::Handler;
use axum::http::Response;
use axum::response::IntoResponse as _;

use crate::answer::Reply;
use crate::call::Call;
use crate::state::ServerState;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A handler.
#[derive(Clone)]
pub(crate) struct Endpoint(Arc<dyn Fn(Call, Body) -> BoxFuture<Reply> + Send + Sync>);

/// Makes a handler of a function that takes no body.
pub(crate) fn bare<R>(answer: impl Fn(Call) -> R + Send + Sync + 'static) -> Endpoint
where
    R: Future<Output = Reply> + Send + 'static,
{
    Endpoint(Arc::new(move |call, _| Box::pin(answer(call))))
}

/// Makes a handler of a function that takes a body.
pub(crate) fn with_body<R>(answer: impl Fn(Call, Body) -> R + Send + Sync + 'static) -> Endpoint
where
    R: Future<Output = Reply> + Send + 'static,
{
    Endpoint(Arc::new(move |call, body| Box::pin(answer(call, body))))
}

impl Handler<(), ServerState> for Endpoint {
    type Future = BoxFuture<Response<Body>>;

    fn call(self, request: Request, server: ServerState) -> Self::Future {
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let Ok(call) = Call::from_request_parts(&mut parts, &server).await;
            (self.0)(call, body).await.into_response()
        })
    }
}
