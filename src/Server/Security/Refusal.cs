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
}
