namespace Treepie.Server.Security;

/// <summary>Who sends a request, as <see cref="AccessGuard"/> found out.</summary>
internal sealed class Caller
{
    private Caller(CertificateEntry? entry, Rights rights) => (Entry, Rights) = (entry, rights);

    /// <summary>Whoever reaches a server without identities.</summary>
    public static Caller Trusted { get; } = new(null, Rights.All);

    /// <summary>His certificate; null where nobody is asked for one.</summary>
    public CertificateEntry? Entry { get; }

    public Rights Rights { get; }

    public static Caller With(CertificateEntry entry) => new(entry, entry.Rights);

    /// <summary>The caller of a request that passed the guard. Without a guard, in somebody else's program, that program has decided.</summary>
    public static Caller Of(HttpContext http) => http.Features.Get<Caller>() ?? Trusted;

    /// <summary>Whether he may see that there is a database of that name.</summary>
    public bool MaySee(string database) => Rights.Suffice(AccessLevel.DatabaseRead, database);
}
