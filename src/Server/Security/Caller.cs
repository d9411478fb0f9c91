using Treepie.Server.Http;

namespace Treepie.Server.Security;

/// <summary>The sender of a request, as identified by <see cref="AccessGuard"/>.</summary>
internal sealed class Caller
{
    private Caller(AccessIdentity? identity, Rights rights) => (Identity, Rights) = (identity, rights);

    /// <summary>The caller on a server without authentication.</summary>
    public static Caller Trusted { get; } = new(null, Rights.All);

    /// <summary>The certificate or token of the caller; null without authentication.</summary>
    public AccessIdentity? Identity { get; }

    public Rights Rights { get; }

    public static Caller With(AccessIdentity identity) => new(identity, identity.Rights);

    /// <summary>A caller that no guard has checked; it has no rights.</summary>
    private static Caller Nobody { get; } = new(null, Rights.Of(Clearance.ValidUser, []));

    /// <summary>
    /// Returns the caller of a request that passed the guard. Without certificates, for example in another application, every
    /// caller is trusted.
    /// </summary>
    public static Caller Of(HttpServerRequest request) => request.Http.Features.Get<Caller>()
        ?? (request.Services.KnowsCallers ? Nobody : Trusted);

    /// <summary>Returns whether the caller may know that a database exists.</summary>
    public bool MaySee(string database) => Rights.Suffice(AccessLevel.DatabaseRead, database);

    /// <summary>Rejects a request of a caller without the rights that only its body shows to be needed.</summary>
    /// <exception cref="WireException">The rights do not suffice.</exception>
    public static void Require(HttpServerRequest request, AccessLevel level, string database)
    {
        Caller caller = Of(request);
        if (!caller.Rights.Suffice(level, database))
            throw new WireException(
                StatusCodes.Status403Forbidden, WireTypes.Authorization,
                Refusal.Complaint(request.Http, level, caller, database) + " Nothing was changed.");
    }
}
