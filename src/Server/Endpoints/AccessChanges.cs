using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>The rules for every change of access rights, by certificate or by token.</summary>
internal static class AccessChanges
{
    private const int MostNameCharacters = 256;

    /// <summary>Returns the server's access control, to change it.</summary>
    /// <exception cref="WireException">The server has no access control, or the caller uses a token.</exception>
    public static AccessControl Begin(HttpServerRequest request)
    {
        AccessControl control = Require(request);

        // A leaked token must lose its access when it expires, so it must not be able to create another one.
        if (Caller.Of(request).Identity is TokenEntry token)
            throw NotAllowed($"The token '{token.Name}' ({token.Id}) cannot change who is let in: come with a certificate");

        return control;
    }

    /// <summary>Returns the server's access control.</summary>
    /// <exception cref="WireException">The server has no access control.</exception>
    public static AccessControl Require(HttpServerRequest request) => request.Server.Control is { Certificates: not null } control
        ? control
        : throw WireException.BadRequest(
            "This server asks for no certificates or tokens and keeps none: it listens without TLS. 'treepie secure <directory>' "
            + "prints how to start it with. Nothing was changed.");

    /// <summary>Reads the name and rights of a new or changed identity from the body.</summary>
    /// <exception cref="WireException">They are not valid, or exceed what the caller may grant.</exception>
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

    /// <summary>Rejects changes of administrators by operators.</summary>
    public static void RequireAuthorityOver(HttpServerRequest request, AccessIdentity? identity)
    {
        if (identity is not null && identity.Rights.Clearance > Caller.Of(request).Rights.Clearance)
            throw NotAllowed(
                $"The {identity.Kind} '{identity.Name}' is an administrator's: only an administrator can change or delete it");
    }

    private static WireException NotAllowed(string what) =>
        new(StatusCodes.Status403Forbidden, WireTypes.Authorization, what + ". Nothing was changed.");
}
