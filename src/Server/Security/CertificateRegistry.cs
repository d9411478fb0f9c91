using System.Collections.Immutable;
using System.Globalization;
using System.Security.Cryptography.X509Certificates;

namespace Treepie.Server.Security;

/// <summary>
/// The registered certificates, kept in memory and stored in an <see cref="AccessStore"/>. Reading, which every request does,
/// takes no lock. Changes are serialized and durable before they take effect. Thread-safe.
/// </summary>
internal sealed class CertificateRegistry : IDisposable
{
    /// <summary>The maximum number of certificates: more than any server has users.</summary>
    public const int MostCertificates = 10_000;

    private static readonly string _tooMany = string.Create(
        CultureInfo.InvariantCulture,
        $"The server knows {MostCertificates:N0} certificates, which is the limit. Delete unused ones.");

    private readonly AccessStore _store;
    private readonly ImmutableArray<string> _administrators;
    private readonly Func<IReadOnlyList<X509Certificate2>> _authorities;
    private readonly TimeProvider _clock;
    private readonly SemaphoreSlim _changing = new(1, 1);
    private ImmutableDictionary<string, CertificateEntry> _entries;

    /// <param name="store">The store of the certificates.</param>
    /// <param name="wellKnown">The administrators' certificates given on the command line.</param>
    /// <param name="administrators">The thumbprints of further administrators' certificates.</param>
    /// <param name="authorities">Returns the issuers in the files of the server's own certificate.</param>
    /// <param name="clock">The clock.</param>
    public CertificateRegistry(
        AccessStore store, IEnumerable<CertificateEntry> wellKnown, IEnumerable<string> administrators,
            Func<IReadOnlyList<X509Certificate2>> authorities, TimeProvider clock)
    {
        _store = store;
        _administrators = [.. administrators];
        _authorities = authorities;
        _clock = clock;
        _entries = store.Certificates()
            .Concat(wellKnown.Select(static entry => entry with { IsWellKnown = true, Rights = Rights.All }))
            .Aggregate(ImmutableDictionary<string, CertificateEntry>.Empty, static (all, entry) =>
            all.SetItem(entry.Fingerprint, entry));
    }

    /// <summary>All certificates, sorted by name.</summary>
    public IReadOnlyList<CertificateEntry> All =>
        [.. Volatile.Read(ref _entries).Values.OrderBy(static entry => entry.Name, StringComparer.OrdinalIgnoreCase).ThenBy(
            static entry => entry.Fingerprint, StringComparer.Ordinal)];

    /// <summary>Whether there is an administrator; without one, nobody could ever be admitted.</summary>
    public bool HasAdministrator => _administrators.Length > 0
        || Volatile.Read(ref _entries).Values.Any(static entry => entry.Rights.Clearance == Clearance.ClusterAdmin);

    /// <summary>Returns the certificate with a thumbprint, SHA-1 or SHA-256; null if there is none.</summary>
    public CertificateEntry? Find(string thumbprint) =>
        Volatile.Read(ref _entries).Values.FirstOrDefault(entry => entry.IsNamedBy(thumbprint));

    /// <summary>
    /// Returns the entry of a certificate, or the reason why it is rejected. An unregistered certificate is accepted if it
    /// renews a registered one: it must have the same key and a later end, and be signed by an issuer that came with the old
    /// one or is in the server's own files. It is then registered with the same rights.
    /// </summary>
    public ValueTask<(CertificateEntry? Entry, string? Complaint)> IdentifyAsync(PresentedCertificate presented)
    {
        DateTime now = _clock.GetUtcNow().UtcDateTime;
        if (now > presented.NotAfter)
            return Refuse(
                $"The client certificate {presented.Description} expired at {presented.NotAfter:u}. Ask an administrator of "
                + "the server for a new one.");

        if (now < presented.NotBefore)
            return Refuse(
                $"The client certificate {presented.Description} is not valid before {presented.NotBefore:u}. Is the clock of "
                + "the server, or of the authority that issued it, wrong?");

        if (_administrators.Length > 0 && _administrators.Any(thumbprint => Names(thumbprint, presented)))
            return ValueTask.FromResult<(CertificateEntry?, string?)>((presented.AsAdministrator, null));

        return Volatile.Read(ref _entries).TryGetValue(presented.Fingerprint, out CertificateEntry? entry)
            ? ValueTask.FromResult<(CertificateEntry?, string?)>((entry, null))
            : RenewAsync(presented);
    }

    /// <summary>
    /// Returns the certificates with the same key as one: renewals of each other, with one name and the same rights.
    /// </summary>
    public IReadOnlyList<CertificateEntry> WithKeyOf(CertificateEntry entry) => WithPin(Volatile.Read(ref _entries), entry.Pin);

    /// <summary>
    /// Registers a certificate, or changes the rights of a registered one; those with the same key get the same rights.
    /// </summary>
    /// <exception cref="WireException">There are too many, or one with its key was given on the command line.</exception>
    public Task PutAsync(CertificateEntry entry) => ChangeAsync(entries =>
    {
        CertificateEntry[] others = [.. Changeable(entries, entry.Pin).Where(other => other.Fingerprint != entry.Fingerprint)];
        if (entries.Count >= MostCertificates && !entries.ContainsKey(entry.Fingerprint))
            throw WireException.BadRequest($"{_tooMany} Nothing was changed.");

        return ([entry, .. others.Select(other => other with { Name = entry.Name, Rights = entry.Rights })], []);
    });

    /// <summary>Changes the name and rights of a certificate and of those with the same key.</summary>
    /// <exception cref="WireException">It is not registered, or one of them was given on the command line.</exception>
    public Task EditAsync(string fingerprint, string name, Rights rights) => ChangeAsync(entries =>
        entries.TryGetValue(fingerprint, out CertificateEntry? old)
            ? ([.. Changeable(entries, old.Pin).Select(one => one with { Name = name, Rights = rights })], [])
            : throw NotThere(fingerprint));

    /// <summary>
    /// Removes a certificate, and with it all those with the same key: each could be renewed to one of the others again.
    /// </summary>
    /// <exception cref="WireException">One of them was given on the command line.</exception>
    public Task RemoveAsync(CertificateEntry entry) => ChangeAsync(entries => ([], Changeable(entries, entry.Pin)));

    public void Dispose() => _changing.Dispose();

    public static WireException NotThere(string thumbprint) =>
        WireException.BadRequest($"The server knows no certificate with the thumbprint '{thumbprint}'. Nothing was changed.");

    private static ValueTask<(CertificateEntry? Entry, string? Complaint)> Refuse(string complaint) =>
        ValueTask.FromResult<(CertificateEntry?, string?)>((null, complaint));

    private static WireException IsWellKnown(CertificateEntry entry) =>
        WireException.BadRequest(
            $"Certificate '{entry.Name}' ({entry.Thumbprint}) is an administrator's that the server's command line names; "
            + "only who starts the server can change that. Nothing was changed.");

    private static CertificateEntry[] WithPin(ImmutableDictionary<string, CertificateEntry> entries, string pin) =>
        [.. entries.Values.Where(entry => entry.Pin == pin)];

    /// <summary>Returns the certificates with a key, none of which was given on the command line.</summary>
    private static CertificateEntry[] Changeable(ImmutableDictionary<string, CertificateEntry> entries, string pin)
    {
        CertificateEntry[] all = WithPin(entries, pin);
        return all.FirstOrDefault(static one => one.IsWellKnown) is { } wellKnown ? throw IsWellKnown(wellKnown) : all;
    }

    private static bool Names(string thumbprint, PresentedCertificate presented) =>
        string.Equals(thumbprint, presented.Fingerprint, StringComparison.OrdinalIgnoreCase)
            || string.Equals(thumbprint, presented.Certificate.Thumbprint, StringComparison.OrdinalIgnoreCase);

    private static bool IsSignedBy(X509Certificate2 certificate, X509Certificate2 authority, DateTime now)
    {
        using var chain = new X509Chain();
        chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        chain.ChainPolicy.CustomTrustStore.Add(authority);
        chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
        chain.ChainPolicy.DisableCertificateDownloads = true;
        // An authority in a file may be an intermediate one: it is trusted without its own issuer.
        chain.ChainPolicy.VerificationFlags = X509VerificationFlags.AllowUnknownCertificateAuthority;
        chain.ChainPolicy.VerificationTime = now;
        return chain.Build(certificate) && chain.ChainElements.Count > 1
            && chain.ChainElements[1].Certificate.RawDataMemory.Span.SequenceEqual(authority.RawDataMemory.Span);
    }

    private async ValueTask<(CertificateEntry? Entry, string? Complaint)> RenewAsync(PresentedCertificate presented)
    {
        CertificateEntry? renewed = Volatile.Read(ref _entries).Values.Where(entry => entry.Pin == presented.Pin).MaxBy(
            static entry => entry.NotAfter);
        if (renewed is null || presented.NotAfter <= renewed.NotAfter || !IsIssuedFor(renewed, presented))
            return (null,
                $"The client certificate {presented.Description} is unknown to this server. Ask an administrator to register "
                    + $"it.");

        CertificateEntry entry = CertificateEntry.For(presented.Certificate, [], renewed.Name, renewed.Rights)
            with
        { Issuers = renewed.Issuers, IsWellKnown = renewed.IsWellKnown };
        CertificateEntry? registered = null;
        string? complaint = null;
        await ChangeAsync(entries =>
        {
            // The entry may have been removed or changed while waiting: the current one counts.
            if (!entries.TryGetValue(renewed.Fingerprint, out CertificateEntry? now))
                complaint = $"The client certificate {presented.Description} renews one that was just deleted.";
            else if (entries.Count >= MostCertificates && !entries.ContainsKey(entry.Fingerprint))
                complaint = $"The client certificate {presented.Description} renews one that is registered. {_tooMany}";
            else
                registered = entry with { Name = now.Name, Rights = now.Rights };
            return (registered is null ? [] : [registered], []);
        }).ConfigureAwait(false);
        return (registered, complaint);
    }

    private bool IsIssuedFor(CertificateEntry renewed, PresentedCertificate presented)
    {
        X509Certificate2[] own = [.. renewed.Issuers.Select(static issuer => X509CertificateLoader.LoadCertificate(issuer))];
        try
        {
            DateTime now = _clock.GetUtcNow().UtcDateTime;
            return own.Concat(_authorities()).Any(authority => PresentedCertificate.PinOf(authority) != presented.Pin
                && IsSignedBy(presented.Certificate, authority, now));
        }
        finally
        {
            foreach (X509Certificate2 one in own)
                one.Dispose();
        }
    }

    private async Task ChangeAsync(Func<ImmutableDictionary<string, CertificateEntry>,
        (CertificateEntry[] Put, CertificateEntry[] Removed)> change)
    {
        await _changing.WaitAsync().ConfigureAwait(false);
        try
        {
            ImmutableDictionary<string, CertificateEntry> entries = _entries;
            (CertificateEntry[] put, CertificateEntry[] removed) = change(entries);
            if (put.Length + removed.Length == 0)
                return;

            if (put.Any(static entry => !entry.IsWellKnown) || removed.Length > 0)
                await _store.SaveAsync(put.Where(static entry => !entry.IsWellKnown), removed).ConfigureAwait(
                    false); // certificates from the command line are not stored, as it may name others at the next start
            Volatile.Write(ref _entries,
                entries.SetItems(put.Select(static entry => KeyValuePair.Create(entry.Fingerprint, entry))).RemoveRange(
                removed.Select(static entry => entry.Fingerprint)));
        }
        finally
        {
            _changing.Release();
        }
    }
}
