using System.Net;

namespace Treepie.CommandLine.Http;

/// <summary>The server responded with an error. The message is the server's and meant for users.</summary>
internal sealed class ServerException(string message, HttpStatusCode status, string type) : Exception(message)
{
    /// <summary>HTTP status of the response.</summary>
    public HttpStatusCode Status { get; } = status;

    /// <summary>Full type name from the response body, or empty if it has none.</summary>
    public string Type { get; } = type;

    /// <summary>The database named by the request does not exist.</summary>
    public bool IsMissingDatabase => Type.EndsWith("DatabaseDoesNotExistException", StringComparison.Ordinal);

    /// <summary>The query is not valid.</summary>
    public bool IsInvalidQuery => Type.EndsWith("InvalidQueryException", StringComparison.Ordinal);

    /// <summary>A document is not in the state that the batch expected.</summary>
    public bool IsConflict => Status == HttpStatusCode.Conflict;

    /// <summary>
    /// The server refused the content of the request, but may accept other content. For a batch, one of its documents is the
    /// cause.
    /// </summary>
    public bool IsRefusal => !IsMissingDatabase && !IsInvalidQuery
        && Status is HttpStatusCode.BadRequest or HttpStatusCode.RequestEntityTooLarge or HttpStatusCode.UnprocessableEntity;
}
