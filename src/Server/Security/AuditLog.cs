using Treepie.Server.Http;

namespace Treepie.Server.Security;

/// <summary>
/// One line for each refusal, each action of administration and each change of certificates, in the log category
/// <c>Treepie.Audit</c>: who, from where, which route, which database. Never a body, a query string or a header. Thread-safe.
/// </summary>
internal sealed class AuditLog(ILogger logger, TimeProvider clock)
{
    public const string Category = "Treepie.Audit";

    /// <summary>Lines about refusals in a second; a stranger must not fill the disk with them.</summary>
    private const int MostRefusalsPerSecond = 20;

    private readonly LineBudget _refusals = new(MostRefusalsPerSecond, clock);

    /// <summary>A request was refused.</summary>
    public void Refused(HttpContext http, AccessIdentity? identity, string why)
    {
        if (logger.IsEnabled(LogLevel.Information) && _refusals.TryTake(out int left))
            logger.LogInformation(
                "Refused {Method} {Path} from {Address} by {Thumbprint}: {Why} Refusals before it that are not told: {Left}",
                Plain(http.Request.Method), Plain(http.Request.Path.Value), http.Connection.RemoteIpAddress, MarkOf(identity),
                Plain(why), left);
    }

    /// <summary>A request passed. Those that administer are written down, whether or not they will succeed.</summary>
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

    /// <summary>A certificate was registered, changed or deleted, or a token made or deleted.</summary>
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

    // A name or path of a stranger's choice must not begin a line of its own.
    private static string Plain(string? text)
    {
        const int Most = 512;
        string shown = text is null ? "" : text.Length <= Most ? text : text[..Most];
        return shown.Any(char.IsControl) ? string.Concat(shown.Select(static one => char.IsControl(one) ? '?' : one)) : shown;
    }
}
