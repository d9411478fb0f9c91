using Treepie.Server.Http;

namespace Treepie.Server;

/// <summary>An answer that is an error: its status, the error's name on the wire, and words for people.</summary>
internal sealed class WireException(int statusCode, string wireType, string message, Exception? innerException = null)
    : Exception(message, innerException)
{
    /// <summary>What is full may be free again soon, and those who were refused should not all come back at once.</summary>
    private const int RetrySeconds = 2;

    public int StatusCode => statusCode;

    public string WireType => wireType;

    /// <summary>The database that does not exist, which clients read from a header.</summary>
    public string? MissingDatabase { get; private init; }

    /// <summary>
    /// Seconds after which another attempt makes sense, for the header Retry-After; null: it is not for time to mend.
    /// </summary>
    public int? RetryAfterSeconds { get; private init; }

    public static WireException BadRequest(string message, Exception? innerException = null) =>
        new(StatusCodes.Status400BadRequest, WireTypes.BadRequest, message, innerException);

    public static WireException TooLarge(string message) =>
        new(StatusCodes.Status413PayloadTooLarge, WireTypes.BadRequest, message);

    /// <summary>The server as a whole has reached a limit: 503 with Retry-After.</summary>
    public static WireException Busy(string message) =>
        new(StatusCodes.Status503ServiceUnavailable, WireTypes.Raven, message) { RetryAfterSeconds = RetrySeconds };

    /// <summary>One client has reached a limit of its own: 429 with Retry-After.</summary>
    public static WireException TooMany(string message) =>
        new(StatusCodes.Status429TooManyRequests, WireTypes.Raven, message) { RetryAfterSeconds = RetrySeconds };

    public static WireException NotBuilt(string what) =>
        new(
            StatusCodes.Status501NotImplemented, WireTypes.NotSupported,
            $"{what}: not built yet in Treepie. Nothing was changed.");

    public static WireException Timeout(string message) => new(StatusCodes.Status408RequestTimeout, WireTypes.Timeout, message);

    public static WireException DatabaseDoesNotExist(string name) =>
        new(StatusCodes.Status503ServiceUnavailable, WireTypes.DatabaseDoesNotExist,
            $"Database '{name}' does not exist on this server. Create it first, for instance with PUT "
                + $"/admin/databases?name={Uri.EscapeDataString(name)}.")
        {
            MissingDatabase = name,
        };

    public static WireException DatabaseDisabled(string name) =>
        new(
            StatusCodes.Status503ServiceUnavailable, WireTypes.DatabaseDisabled,
            $"Database '{name}' is disabled. Enable it with POST /admin/databases/enable.");

    public static WireException RouteNotFound(string method, string path) =>
        new(StatusCodes.Status400BadRequest, WireTypes.RouteNotFound, $"There is no route for {method} {path}.");
}
