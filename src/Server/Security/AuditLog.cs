using Treepie.Server.Http;

namespace Treepie.Server.Security;

/// <summary>
/// Logs each rejected request, each administrative action, and each change of certificates and tokens, in the category
/// <c>Treepie.Audit</c>: identity, address, route and database; never a body, a query string or a header. Thread-safe.
/// </summary>
internal sealed class AuditLog(ILogger logger, TimeProvider clock)
{
    public const string Category = "Treepie.Audit";

    /// <summary>
    /// The maximum number of messages about rejected requests per second, so that strangers cannot fill the disk.
    /// </summary>
    private const int MostRefusalsPerSecond = 20;

    private readonly LineBudget _refusals = new(MostRefusalsPerSecond, clock);

    /// <summary>Logs a rejected request.</summary>
    public void Refused(HttpContext http, AccessIdentity? identity, string why)
    {
        if (logger.IsEnabled(LogLevel.Information) && _refusals.TryTake(out int left))
            logger.LogInformation(
                "Refused {Method} {Path} from {Address} by {Thumbprint}: {Why} Refusals before it that are not told: {Left}",
                Plain(http.Request.Method), Plain(http.Request.Path.Value), http.Connection.RemoteIpAddress, MarkOf(identity),
                Plain(why), left);
    }

    /// <summary>Logs an admitted administrative request, whether or not it will succeed.</summary>
    public void Passed(HttpContext http, Caller caller, RequiredAccess access)
    {
        if (access.Level < AccessLevel.DatabaseAdmin || HttpMethods.IsGet(http.Request.Method)
            || !logger.IsEnabled(LogLevel.Information))
            return;

        logger.LogInformation(
            "Passed {Method} {Path} from {Address} by {Thumbprint} on {Database}",
            Plain(http.Request.Method), Plain(http.Request.Path.Value), http.Connection.RemoteIpAddress, MarkOf(caller.Identity),
            Plain(access.DatabaseOf(http) ?? "the server"));
    }

    /// <summary>Logs that a certificate was registered, changed or deleted, or a token created or deleted.</summary>
    public void Changed(HttpServerRequest request, string what, AccessIdentity identity)
    {
        if (logger.IsEnabled(LogLevel.Information))
            logger.LogInformation(
                "{Kind} {What}: {Mark} with clearance {Clearance} from {Address} by {Caller}",
                identity is TokenEntry ? "Token" : "Certificate", what, identity.Mark, identity.Rights.Clearance,
                request.Http.Connection.RemoteIpAddress, MarkOf(Caller.Of(request).Identity));
    }

    private static string MarkOf(AccessIdentity? identity) =>
        identity is null ? "nobody" : identity is TokenEntry ? $"token {identity.Mark}" : identity.Mark;

    // A name or path chosen by a stranger must not be able to start a new line.
    private static string Plain(string? text)
    {
        const int Most = 512;
        string shown = text is null ? "" : text.Length <= Most ? text : text[..Most];
        return shown.Any(char.IsControl) ? string.Concat(shown.Select(static one => char.IsControl(one) ? '?' : one)) : shown;
    }
}
