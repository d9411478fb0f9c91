using System.Collections.Immutable;

namespace Treepie.Server.Security;

/// <summary>
/// The registered tokens, kept in memory and stored in an <see cref="AccessStore"/>. Reading, which every request does, takes
/// no lock. Changes are serialized and durable before they take effect. Thread-safe.
/// </summary>
internal sealed class TokenRegistry(AccessStore store, TimeProvider clock) : IDisposable
{
    /// <summary>The maximum number of tokens: more than any server needs.</summary>
    public const int MostTokens = 10_000;

    private readonly SemaphoreSlim _changing = new(1, 1);

    // By hash.
    private ImmutableDictionary<string, TokenEntry> _entries = store.Tokens().ToImmutableDictionary(static entry => entry.Hash);

    /// <summary>All tokens, sorted by name.</summary>
    public IReadOnlyList<TokenEntry> All =>
    [
        .. Volatile.Read(ref _entries).Values.OrderBy(static entry => entry.Name, StringComparer.OrdinalIgnoreCase)
            .ThenBy(static entry => entry.Id, StringComparer.Ordinal)
    ];

    /// <summary>Returns the token with an id; null if there is none.</summary>
    public TokenEntry? Find(string id) =>
        Volatile.Read(ref _entries).Values
            .FirstOrDefault(entry => string.Equals(entry.Id, id, StringComparison.OrdinalIgnoreCase));

    /// <summary>Returns the entry of a token, or the reason why it is rejected.</summary>
    public (TokenEntry? Entry, string? Complaint) Identify(string text)
    {
        if (TokenText.HashOf(text) is not { } hash || !Volatile.Read(ref _entries).TryGetValue(hash, out TokenEntry? entry))
            return (null, "The token of the request is unknown to this server. Ask an administrator for a new one.");

        return clock.GetUtcNow().UtcDateTime > entry.NotAfter
            ? (null, $"The token '{entry.Name}' ({entry.Id}) expired at {entry.NotAfter:u}. Ask an administrator for a new one.")
            : (entry, null);
    }

    /// <summary>Adds a token, and removes expired ones.</summary>
    /// <exception cref="WireException">There are too many.</exception>
    public Task AddAsync(TokenEntry entry) => ChangeAsync(entries =>
    {
        DateTime now = clock.GetUtcNow().UtcDateTime;
        TokenEntry[] expired = [.. entries.Values.Where(old => old.NotAfter < now)];
        return entries.Count - expired.Length < MostTokens
            ? ([entry], expired)
            : throw WireException.BadRequest(
                $"The server knows {MostTokens:N0} tokens, which is the limit. Delete unused ones. Nothing "
                    + $"was changed.");
    });

    /// <summary>Removes a token, which is rejected from the next request on.</summary>
    public Task RemoveAsync(TokenEntry entry) => ChangeAsync(_ => ([], [entry]));

    public void Dispose() => _changing.Dispose();

    private async Task ChangeAsync(Func<ImmutableDictionary<string, TokenEntry>, (TokenEntry[] Put, TokenEntry[] Removed)> change)
    {
        await _changing.WaitAsync().ConfigureAwait(false);
        try
        {
            (TokenEntry[] put, TokenEntry[] removed) = change(_entries);
            await store.SaveAsync(put, removed).ConfigureAwait(false);
            Volatile.Write(
                ref _entries,
                _entries.RemoveRange(removed.Select(static entry => entry.Hash))
                    .SetItems(put.Select(static entry => KeyValuePair.Create(entry.Hash, entry))));
        }
        finally
        {
            _changing.Release();
        }
    }
}
