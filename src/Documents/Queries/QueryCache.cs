using System.Collections.Concurrent;
using Treepie.Queries.Binding;
using Treepie.Rql.Syntax;

namespace Treepie.Queries;

/// <summary>
/// Caches recent queries by their text: their syntax trees and reusable bindings. Bounded by two generations: when the current
/// generation is full, it replaces the previous one, and entries of the previous one that are used again move to the current one.
/// Thread-safe.
/// </summary>
internal sealed class QueryCache
{
    /// <summary>The maximum length of a cached query, in characters.</summary>
    private const int MaxLength = 32 * 1_024;

    /// <summary>The maximum number of characters of all queries in a generation.</summary>
    private const int MostCharacters = 1 << 20;

    /// <summary>The maximum number of queries in a generation.</summary>
    private const int Most = 512;

    private readonly Lock _lock = new();
    private ConcurrentDictionary<string, Entry> _now = new(StringComparer.Ordinal);
    private ConcurrentDictionary<string, Entry> _before = new(StringComparer.Ordinal);
    private int _characters;

    /// <summary>The number of cached queries.</summary>
    public int Count => Volatile.Read(ref _now).Count + Volatile.Read(ref _before).Count;

    /// <summary>Returns the syntax tree of a query, or null if it is not cached.</summary>
    /// <param name="text">The query.</param>
    /// <param name="prepared">The prepared query, or null if it is not cached or cannot be reused.</param>
    public RqlQuery? Parsed(string text, out PreparedQuery? prepared)
    {
        Entry? found = Find(text);
        prepared = found?.Prepared;
        return found?.Parsed;
    }

    /// <summary>Caches a query.</summary>
    public void Keep(RqlQuery parsed, PreparedQuery? prepared)
    {
        string text = parsed.Text;
        if (text.Length > MaxLength || (prepared is null && Find(text) is not null))
            return;
        lock (_lock)
        {
            if (_now.Count >= Most || _characters + text.Length > MostCharacters)
            {
                Volatile.Write(ref _before, _now);
                Volatile.Write(ref _now, new ConcurrentDictionary<string, Entry>(StringComparer.Ordinal));
                _characters = 0;
            }

            Add(text, new Entry(parsed, prepared));
        }
    }

    private Entry? Find(string text)
    {
        if (text.Length > MaxLength)
            return null;
        if (Volatile.Read(ref _now).TryGetValue(text, out Entry? entry))
            return entry;
        if (!Volatile.Read(ref _before).TryGetValue(text, out entry))
            return null;
        lock (_lock)
        {
            if (_now.Count < Most && _characters + text.Length <= MostCharacters)
                Add(text, entry); // move it to the current generation
        }

        return entry;
    }

    private void Add(string text, Entry entry)
    {
        if (_now.TryAdd(text, entry))
            _characters += text.Length;
        else
            _now[text] = entry;
    }

    private sealed record Entry(RqlQuery Parsed, PreparedQuery? Prepared);
}
