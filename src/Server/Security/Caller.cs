using Treepie.Server.Http;

namespace Treepie.Server.Security;

/// <summary>Who sends a request, as <see cref="AccessGuard"/> found out.</summary>
internal sealed class Caller
{
    private Caller(AccessIdentity? identity, Rights rights) => (Identity, Rights) = (identity, rights);

    /// <summary>Whoever reaches a server without identities.</summary>
    public static Caller Trusted { get; } = new(null, Rights.All);

    /// <summary>His certificate or token; null where nobody is asked for one.</summary>
    public AccessIdentity? Identity { get; }

    public Rights Rights { get; }

    public static Caller With(AccessIdentity identity) => new(identity, identity.Rights);

    /// <summary>Somebody whom no guard has looked at: he has no rights.</summary>
    private static Caller Nobody { get; } = new(null, Rights.Of(Clearance.ValidUser, []));

    /// <summary>
    /// The caller of a request that passed the guard. Where there are no certificates, in somebody else's program for instance,
    /// whoever comes that far is trusted.
    /// </summary>
    public static Caller Of(HttpServerRequest request) => request.Http.Features.Get<Caller>()
        ?? (request.Services.KnowsCallers ? Nobody : Trusted);

    /// <summary>Whether he may see that there is a database of that name.</summary>
    public bool MaySee(string database) => Rights.Suffice(AccessLevel.DatabaseRead, database);
}
