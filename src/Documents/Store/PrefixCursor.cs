using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>Iterates over documents in order of their folded ids that start with a prefix and match two patterns.</summary>
internal sealed class PrefixCursor : DocumentCursor
{
    /// <summary>What is prefetched of values while others are read: a record's head, its id and the start of its body.</summary>
    private const int PrefetchedEntries = 4, PrefetchedBytes = 256;

    private readonly DatabaseSnapshot _snapshot;
    private readonly Cursor _cursor;
    private readonly byte[] _prefix;
    private readonly byte[]? _startAfter;
    private readonly IdPattern? _matches;
    private readonly IdPattern? _exclude;
    private bool _started;
    private bool _isBehind; // the cursor is already positioned on the next document

    public PrefixCursor(
        DatabaseSnapshot snapshot, Tree documents, byte[] foldedPrefix, byte[]? foldedStartAfter, IdPattern? matches,
        IdPattern? exclude)
    {
        _snapshot = snapshot;
        _cursor = documents.OpenCursor();
        _prefix = foldedPrefix;
        // No id is longer, so an id greater than the start of a text is greater than the text, unless it equals the start.
        _startAfter = foldedStartAfter?.Length > DocumentId.MaxFoldedBytes
            ? foldedStartAfter[..DocumentId.MaxFoldedBytes]
            : foldedStartAfter;
        _matches = matches;
        _exclude = exclude;
    }

    public override Document Current => new(_snapshot, _cursor.Value);

    public override bool MoveNext()
    {
        bool found = _started ? _cursor.IsValid && (_isBehind || _cursor.MoveNext()) : Start();
        _isBehind = false;
        _started = true;
        if (_prefix.Length == 0 && _matches is null && _exclude is null)
        {
            if (found)
                _cursor.PrefetchAhead(PrefetchedEntries, PrefetchedBytes);
            return found; // any id: it need not be read
        }

        for (; found; found = _cursor.MoveNext())
        {
            ReadOnlySpan<byte> key = _cursor.Key;
            if (!key.StartsWith(_prefix))
                return false;
            ReadOnlySpan<byte> rest = key[_prefix.Length..];
            if ((_matches is null || _matches.IsMatch(rest)) && (_exclude is null || !_exclude.IsMatch(rest)))
                return true;
        }

        return false;
    }

    internal override long Skip(long most)
    {
        if (_matches is not null || _exclude is not null)
            return base.Skip(most);
        if (!_started)
            (_started, _isBehind) = (true, Start());
        return _isBehind && _cursor.IsValid ? _cursor.Skip(most, _prefix) : 0;
    }

    private protected override void Dispose(bool disposing) => _cursor.Dispose();

    private bool Start()
    {
        if (_prefix.Length > DocumentId.MaxFoldedBytes)
            return false; // longer than any id
        if (_startAfter is null || _startAfter.AsSpan().SequenceCompareTo(_prefix) < 0)
            return _prefix.Length == 0 ? _cursor.MoveFirst() : _cursor.Seek(_prefix);
        return _cursor.Seek(_startAfter) && (!_cursor.Key.SequenceEqual(_startAfter) || _cursor.MoveNext());
    }
}
