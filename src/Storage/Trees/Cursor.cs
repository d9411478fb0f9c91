namespace Treepie.Storage.Trees;

/// <summary>
/// A position in a tree that moves both ways. Spans it hands out live as the tree's do, except <see cref="Key"/>, which
/// lives until the cursor moves.
/// </summary>
public sealed class Cursor : IDisposable
{
    internal Cursor()
    {
    }

    /// <summary>Whether it stands on a key.</summary>
    public bool IsValid => throw new NotImplementedException();

    /// <summary>The key it stands on.</summary>
    public ReadOnlySpan<byte> Key => throw new NotImplementedException();

    /// <summary>The value of that key.</summary>
    public ReadOnlySpan<byte> Value => throw new NotImplementedException();

    /// <summary>Goes to the smallest key; false in an empty tree.</summary>
    public bool MoveFirst() => throw new NotImplementedException();

    /// <summary>Goes to the greatest key; false in an empty tree.</summary>
    public bool MoveLast() => throw new NotImplementedException();

    /// <summary>Goes to the smallest key that is equal to or greater than <paramref name="key"/>; false if there is none.</summary>
    public bool Seek(ReadOnlySpan<byte> key) => throw new NotImplementedException();

    /// <summary>Goes to the greatest key that is smaller than <paramref name="key"/>; false if there is none.</summary>
    public bool SeekBefore(ReadOnlySpan<byte> key) => throw new NotImplementedException();

    /// <summary>Goes to the next key; false (and no longer valid) after the last.</summary>
    public bool MoveNext() => throw new NotImplementedException();

    /// <summary>Goes to the key before; false (and no longer valid) before the first.</summary>
    public bool MovePrevious() => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}
