using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>Iterates over related data whose keys start with a prefix, in key order, without deleted items.</summary>
internal sealed class KindCursor(Cursor? cursor, byte[] prefix) : IDisposable
{
    private bool _started;

    public ReadOnlySpan<byte> Key => cursor!.Key; // valid only after MoveNext returned true

    /// <summary>The part of the key after the prefix.</summary>
    public ReadOnlySpan<byte> Rest => Key[prefix.Length..];

    public KindRecord Record => new(cursor!.Value); // valid only after MoveNext returned true

    public bool MoveNext()
    {
        if (cursor is null)
            return false;
        bool found = _started ? cursor.IsValid && cursor.MoveNext() : cursor.Seek(prefix);
        _started = true;
        for (; found && cursor.Key.StartsWith(prefix); found = cursor.MoveNext())
            if (!Record.IsDeleted)
                return true;
        return false;
    }

    public void Dispose() => cursor?.Dispose();
}
