using Treepie.Server.Http;

namespace Treepie.Server.Security;

/// <summary>Responds with 403 to requests that are rejected before they reach an endpoint.</summary>
internal static class Refusal
{
    public static async Task WriteAsync(HttpContext http, string complaint)
    {
        http.Response.StatusCode = StatusCodes.Status403Forbidden;
        http.Response.ContentType = "application/json; charset=utf-8";
        var answer = new ErrorAnswer(StatusCodes.Status403Forbidden, WireTypes.Authorization, complaint);
        await using var json = new System.Text.Json.Utf8JsonWriter(http.Response.BodyWriter);
        answer.WriteBody(json, http.Request.Path.Value ?? "/");
    }

    /// <summary>Returns what the rights of a caller do not suffice for.</summary>
    public static string Complaint(HttpContext http, AccessLevel level, Caller caller, string? database)
    {
        string who = $"{caller.Identity?.Kind} '{caller.Identity?.Name}' ({caller.Identity?.Mark})";
        string what = $"{http.Request.Method} {http.Request.Path.Value}";
        return level switch
        {
            AccessLevel.DatabaseRead or AccessLevel.DatabaseReadWrite or AccessLevel.DatabaseAdmin =>
                $"Could not authorize access to database '{database}' with {who}: {what} demands "
                    + $"{level.ToString()["Database".Length..]}.",
            _ => $"Could not authorize {what} with {who}: it demands the clearance {level}.",
        };
    }
}
