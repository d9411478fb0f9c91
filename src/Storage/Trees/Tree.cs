namespace Treepie.Storage.Trees;

/// <summary>
/// An ordered map of bytes to bytes (B+tree), bound to the transaction it came from. Keys are compared as unsigned bytes.
/// In a read transaction returned spans live until the transaction is disposed; in a write transaction until its next change.
/// </summary>
public sealed class Tree
{
    /// <summary>Longest key, in bytes.</summary>
    public const int MaxKeyBytes = 2000;

    /// <summary>Longest value, in bytes.</summary>
    public const int MaxValueBytes = int.MaxValue - 65536;

    internal Tree()
    {
    }

    /// <summary>The name it was opened by.</summary>
    public string Name => throw new NotImplementedException();

    /// <summary>Number of keys.</summary>
    public long Count => throw new NotImplementedException();

    /// <summary>The value of <paramref name="key"/>, in place in its page; values of any size are one span.</summary>
    public bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => throw new NotImplementedException();

    /// <summary>Whether the key is there.</summary>
    public bool Contains(ReadOnlySpan<byte> key) => throw new NotImplementedException();

    /// <summary>Sets the value of a key; true if the key is new.</summary>
    public bool Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => throw new NotImplementedException();

    /// <summary>Makes room for a value of this length and returns the room, zeroed, to be filled before the next change.</summary>
    public Span<byte> Reserve(ReadOnlySpan<byte> key, int lengthBytes) => throw new NotImplementedException();

    /// <summary>Removes a key; false if it is not there.</summary>
    public bool Delete(ReadOnlySpan<byte> key) => throw new NotImplementedException();

    /// <summary>
    /// A cursor before the first key. In a write transaction any change of the tree other than through the cursor
    /// ends the cursor's position: seek again.
    /// </summary>
    public Cursor OpenCursor() => throw new NotImplementedException();
}
