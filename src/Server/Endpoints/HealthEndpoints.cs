using Treepie.Server.Health;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Whether the process is alive and ready to serve requests, for supervisors and load balancers. Unauthenticated callers get
/// only the status; the reasons are for operators.
/// </summary>
internal static class HealthEndpoints
{
    private const int RetryAfterSeconds = 10;

    public static void Map(Routes routes)
    {
        routes.Server(
            "GET", "/healthz", AccessLevel.Anyone, static request => WriteStatusAsync(request, "Alive", StatusCodes.Status200OK));
        routes.Server("GET", "/readyz", AccessLevel.Anyone, Ready);
        routes.Server("GET", "/admin/health", AccessLevel.Operator, Report);
    }

    private static Task Ready(HttpServerRequest request)
    {
        if (new HealthCheck(request.Server).Critical().Count == 0)
            return WriteStatusAsync(request, "Ready", StatusCodes.Status200OK);

        request.SetHeader("Retry-After", RetryAfterSeconds.ToString(System.Globalization.CultureInfo.InvariantCulture));
        return WriteStatusAsync(request, "NotReady", StatusCodes.Status503ServiceUnavailable);
    }

    private static Task Report(HttpServerRequest request) =>
        request.JsonAsync(new HealthCheck(request.Server).All(), static (json, problems) =>
        {
            json.WriteStartObject();
            json.WriteString("Status", problems.Any(static one => one.IsCritical) ? "NotReady" : "Ready");
            json.WriteStartArray("Problems");
            foreach (HealthProblem problem in problems)
            {
                json.WriteStartObject();
                json.WriteString("Severity", problem.IsCritical ? "Critical" : "Warning");
                json.WriteString("Database", problem.Database);
                json.WriteString("Message", problem.Message);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });

    private static Task WriteStatusAsync(HttpServerRequest request, string status, int code)
    {
        request.SetHeader("Cache-Control", "no-store");
        return request.JsonAsync(status, static (json, text) =>
        {
            json.WriteStartObject();
            json.WriteString("Status", text);
            json.WriteEndObject();
        }, code);
    }
}
