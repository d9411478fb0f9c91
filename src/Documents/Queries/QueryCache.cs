using System.Collections.Concurrent;
using Treepie.Queries.Binding;
using Treepie.Rql.Syntax;

namespace Treepie.Queries;

/// <summary>
/// Queries that were asked lately, by their text: as they were parsed, and prepared to be bound again. Bounded: beside those of now there are those of before, and when the first are as many as may be they become
/// the others. Thread-safe.
/// </summary>
internal sealed class QueryCache
{
    /// <summary>Longest text that is kept, in characters.</summary>
    private const int MaxLength = 32 * 1_024;

    /// <summary>Characters of all texts of now; those of before have as many.</summary>
    private const int MostCharacters = 1 << 20;

    /// <summary>Queries of now; of those of before there are as many.</summary>
    private const int Most = 512;

    private readonly Lock _lock = new();
    private ConcurrentDictionary<string, Entry> _now = new(StringComparer.Ordinal);
    private ConcurrentDictionary<string, Entry> _before = new(StringComparer.Ordinal);
    private int _characters;

    /// <summary>Queries that are kept.</summary>
    public int Count => Volatile.Read(ref _now).Count + Volatile.Read(ref _before).Count;

    /// <summary>A query as it was parsed; null where it was not.</summary>
    /// <param name="text">The query.</param>
    /// <param name="prepared">As it was prepared; null where it was not, or is another each time.</param>
    public RqlQuery? Parsed(string text, out PreparedQuery? prepared)
    {
        Entry? found = Find(text);
        prepared = found?.Prepared;
        return found?.Parsed;
    }

    /// <summary>Keeps a query.</summary>
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
                Add(text, entry); // what is still asked is not of before
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
