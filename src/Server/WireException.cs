using Treepie.Server.Http;

namespace Treepie.Server;

/// <summary>An error response: its status, the name of the error in the protocol, and a message.</summary>
internal sealed class WireException(int statusCode, string wireType, string message, Exception? innerException = null)
    : Exception(message, innerException)
{
    /// <summary>
    /// The value of Retry-After: resources may soon be free again, but rejected clients should not all retry at once.
    /// </summary>
    private const int RetrySeconds = 2;

    public int StatusCode => statusCode;

    public string WireType => wireType;

    /// <summary>The name of a database that does not exist, which clients read from a header.</summary>
    public string? MissingDatabase { get; private init; }

    /// <summary>
    /// The number of seconds after which a retry makes sense, for the header Retry-After; null if waiting does not help.
    /// </summary>
    public int? RetryAfterSeconds { get; private init; }

    public static WireException BadRequest(string message, Exception? innerException = null) =>
        new(StatusCodes.Status400BadRequest, WireTypes.BadRequest, message, innerException);

    public static WireException TooLarge(string message) =>
        new(StatusCodes.Status413PayloadTooLarge, WireTypes.BadRequest, message);

    /// <summary>The server as a whole has reached a limit: 503 with Retry-After.</summary>
    public static WireException Busy(string message) =>
        new(StatusCodes.Status503ServiceUnavailable, WireTypes.Raven, message) { RetryAfterSeconds = RetrySeconds };

    /// <summary>One client has reached its own limit: 429 with Retry-After.</summary>
    public static WireException TooMany(string message) =>
        new(StatusCodes.Status429TooManyRequests, WireTypes.Raven, message) { RetryAfterSeconds = RetrySeconds };

    /// <param name="what">What is not here.</param>
    /// <param name="instead">What to do instead, as sentences; null if there is nothing to say.</param>
    public static WireException NotBuilt(string what, string? instead = null) =>
        new(
            StatusCodes.Status501NotImplemented, WireTypes.NotSupported,
            $"{what}: not built yet in Treepie. Nothing was changed.{(instead is null ? "" : " ")}{instead}");

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
