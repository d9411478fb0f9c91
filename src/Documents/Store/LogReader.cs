using System.Buffers.Binary;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>Reads a log of etags: the whole tree, or the part of one collection.</summary>
internal sealed class LogReader : IDisposable
{
    private readonly Cursor? _cursor;
    private readonly int? _collectionId;
    private readonly long _afterEtag;
    private bool _started;
    private bool _isBehind; // the cursor is already positioned on the next entry

    /// <summary>Creates a reader of all etags after the specified one, optionally of one collection.</summary>
    public LogReader(Tree log, int? collectionId, long afterEtag)
    {
        _cursor = log.OpenCursor();
        _collectionId = collectionId;
        _afterEtag = Math.Max(0, afterEtag);
    }

    private LogReader()
    {
    }

    /// <summary>A log without entries.</summary>
    public static LogReader Empty => new();

    /// <summary>Whether the reader is positioned on an entry.</summary>
    public bool IsValid { get; private set; }

    public long Etag { get; private set; }

    public ReadOnlySpan<byte> Value => _cursor is null ? default : _cursor.Value;

    public bool MoveNext()
    {
        if (_cursor is null || _afterEtag == long.MaxValue)
            return false;
        if (_isBehind)
        {
            _isBehind = false;
            return Accept(_cursor.IsValid);
        }

        if (_started)
            return IsValid && Accept(_cursor.MoveNext());

        _started = true;
        Span<byte> key = stackalloc byte[TreeNames.CollectionKeyBytes];
        return Accept(_cursor.Seek(WriteKey(key, _afterEtag + 1)));
    }

    /// <summary>
    /// Skips entries before the first <see cref="MoveNext"/>, as far as there are enough; returns the number skipped. May be
    /// called repeatedly.
    /// </summary>
    public long Skip(long most)
    {
        if (!_started)
            _isBehind = MoveNext();
        if (!_isBehind || !_cursor!.IsValid) // MoveNext succeeded, so there is a cursor
            return 0;

        Span<byte> collection = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(collection, _collectionId ?? 0);
        return _cursor.Skip(most, _collectionId is null ? default : collection);
    }

    public bool MovePrevious()
    {
        if (_cursor is null)
            return false;
        if (_started)
            return IsValid && Accept(_cursor.MovePrevious());

        _started = true;
        return Accept(_cursor.MoveLast()); // used only for the log of all documents
    }

    public void Dispose() => _cursor?.Dispose();

    private ReadOnlySpan<byte> WriteKey(Span<byte> key, long etag)
    {
        if (_collectionId is not { } collectionId)
        {
            TreeNames.WriteEtagKey(key, etag);
            return key[..TreeNames.EtagKeyBytes];
        }

        TreeNames.WriteCollectionKey(key, collectionId, etag);
        return key;
    }

    private bool Accept(bool found)
    {
        // found implies that there is a cursor
        IsValid = found && (_collectionId is null || BinaryPrimitives.ReadInt32BigEndian(_cursor!.Key) == _collectionId);
        if (IsValid)
            Etag = TreeNames.EtagOfKey(_cursor!.Key);
        return IsValid;
    }
}
