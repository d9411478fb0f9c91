using System.Net;

namespace Treepie.CommandLine.Http;

/// <summary>The server answered with an error; the message is the server's, meant for people.</summary>
internal sealed class ServerException(string message, HttpStatusCode status, string type) : Exception(message)
{
    /// <summary>Status of the answer.</summary>
    public HttpStatusCode Status { get; } = status;

    /// <summary>Full type name from the answer's body; empty if it had none.</summary>
    public string Type { get; } = type;

    /// <summary>The database named by the request does not exist.</summary>
    public bool IsMissingDatabase => Type.EndsWith("DatabaseDoesNotExistException", StringComparison.Ordinal);

    /// <summary>The text of a query is not valid.</summary>
    public bool IsInvalidQuery => Type.EndsWith("InvalidQueryException", StringComparison.Ordinal);

    /// <summary>A document is not what the batch expected it to be.</summary>
    public bool IsConflict => Status == HttpStatusCode.Conflict;

    /// <summary>
    /// The content of the request is at fault, so that the same server may take another: for a batch, one of its documents.
    /// </summary>
    public bool IsRefusal => !IsMissingDatabase && !IsInvalidQuery
        && Status is HttpStatusCode.BadRequest or HttpStatusCode.RequestEntityTooLarge or HttpStatusCode.UnprocessableEntity;
}
