using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>What holds for every change of who is let in, by certificate or by token.</summary>
internal static class AccessChanges
{
    private const int MostNameCharacters = 256;

    /// <summary>The server's access control, for a change of it.</summary>
    /// <exception cref="WireException">The server lets everybody in, or the caller came with a token.</exception>
    public static AccessControl Begin(HttpServerRequest request)
    {
        AccessControl control = Require(request);

        // A token that leaks must end at its end: it makes no successor of itself.
        if (Caller.Of(request).Identity is TokenEntry token)
            throw NotAllowed($"The token '{token.Name}' ({token.Id}) cannot change who is let in: come with a certificate");

        return control;
    }

    /// <summary>The server's access control.</summary>
    /// <exception cref="WireException">The server lets everybody in.</exception>
    public static AccessControl Require(HttpServerRequest request) => request.Server.Control is { Certificates: not null } control
        ? control
        : throw WireException.BadRequest(
            "This server asks for no certificates or tokens and keeps none: it listens without TLS. 'treepie secure <directory>' "
            + "prints how to start it with. Nothing was changed.");

    /// <summary>The name and the rights that a body gives to somebody.</summary>
    /// <exception cref="WireException">They are not understood, or more than the caller may give.</exception>
    public static (string Name, Rights Rights) ReadDefinition(HttpServerRequest request, JsonElement body)
    {
        string name = CertificateJson.Text(body, "Name");
        if (name.Length > MostNameCharacters || name.Any(char.IsControl))
            throw WireException.BadRequest(
                $"'Name' must be a text of at most {MostNameCharacters} characters without control characters. Nothing was "
                + "changed.");

        Rights rights = CertificateJson.ReadRights(body);
        if (rights.Clearance > Caller.Of(request).Rights.Clearance)
            throw NotAllowed($"Only an administrator can give somebody the clearance {rights.Clearance}");

        return (name, rights);
    }

    /// <summary>Operators do not touch administrators.</summary>
    public static void RequireAuthorityOver(HttpServerRequest request, AccessIdentity? identity)
    {
        if (identity is not null && identity.Rights.Clearance > Caller.Of(request).Rights.Clearance)
            throw NotAllowed(
                $"The {identity.Kind} '{identity.Name}' is an administrator's: only an administrator can change or delete it");
    }

    private static WireException NotAllowed(string what) =>
        new(StatusCodes.Status403Forbidden, WireTypes.Authorization, what + ". Nothing was changed.");
}
