using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Bearer tokens, for programs that cannot use certificates: listing, creating and deleting them. The text of a token is only
/// in the response to its creation.
/// </summary>
internal static class TokensEndpoints
{
    private const int MaxBodyBytes = 1024 * 1024;
    private const int DefaultDays = 90;
    private const int MostDays = 366;

    public static void Map(Routes routes)
    {
        routes.Server("GET", "/admin/tokens", AccessLevel.Operator, List);
        routes.Server("POST", "/admin/tokens", AccessLevel.Operator, Make);
        routes.Server("DELETE", "/admin/tokens", AccessLevel.Operator, Delete);
    }

    private static Task List(HttpServerRequest request) =>
        request.JsonAsync(TokensOf(AccessChanges.Require(request)).All, static (json, all) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (TokenEntry entry in all)
                TokenJson.Write(json, entry);
            json.WriteEndArray();
            json.WriteEndObject();
        });

    private static async Task Make(HttpServerRequest request)
    {
        TokenRegistry tokens = TokensOf(AccessChanges.Begin(request));
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument document = WireJson.ParseObject(
            body, "{\"Name\":…,\"SecurityClearance\":…,\"Permissions\":{…},\"Days\":90}");
        (string name, Rights rights) = AccessChanges.ReadDefinition(request, document.RootElement);
        DateTime now = request.Server.Clock.GetUtcNow().UtcDateTime;
        (string text, string id) = TokenText.Draw();
        var entry = new TokenEntry
        {
            Id = id,
            Hash = TokenText.HashOf(text) ?? "", // the text was just generated, so it is valid
            Name = name,
            Rights = rights,
            NotBefore = now,
            NotAfter = now.AddDays(ReadDays(document.RootElement)),
        };
        await tokens.AddAsync(entry).ConfigureAwait(false);
        request.Server.Control?.Audit.Changed(request, "made", entry);
        request.SetHeader("Cache-Control", "no-store");
        await request.JsonAsync(
            (entry, text), static (json, made) => TokenJson.Write(json, made.entry, made.text), StatusCodes.Status201Created)
            .ConfigureAwait(false);
    }

    private static async Task Delete(HttpServerRequest request)
    {
        TokenRegistry tokens = TokensOf(AccessChanges.Begin(request));
        string id = request.RequiredParameter("id");
        TokenEntry entry = tokens.Find(id)
            ?? throw WireException.BadRequest($"The server knows no token with the id '{id}'. Nothing was changed.");
        AccessChanges.RequireAuthorityOver(request, entry);
        await tokens.RemoveAsync(entry).ConfigureAwait(false);
        request.Server.Control?.Audit.Changed(request, "deleted", entry);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static TokenRegistry TokensOf(AccessControl control) =>
        control.Tokens ?? throw new InvalidOperationException("A server that knows certificates knows tokens.");

    private static int ReadDays(JsonElement body)
    {
        if (!body.TryGetProperty("Days", out JsonElement days) || days.ValueKind == JsonValueKind.Null)
            return DefaultDays;

        return days.ValueKind == JsonValueKind.Number && days.TryGetInt32(out int count) && count is >= 1 and <= MostDays
            ? count
            : throw WireException.BadRequest($"'Days' must be a whole number from 1 to {MostDays}. Nothing was changed.");
    }
}
