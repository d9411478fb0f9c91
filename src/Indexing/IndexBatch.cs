namespace Treepie.Indexing;

/// <summary>
/// Entries to be put and keys to be removed, in order; a later one for the same key replaces an earlier one. Values of a field
/// may be added several times (an array). Fields are named by their position in the schema. One thread at a time.
/// </summary>
public sealed class IndexBatch
{
    internal IndexBatch()
    {
    }

    /// <summary>Puts and removals waiting.</summary>
    public int Count => throw new NotImplementedException();

    /// <summary>Approximate native and managed bytes held; a caller commits when its budget is reached.</summary>
    public long SizeBytes => throw new NotImplementedException();

    /// <summary>Starts the entry of <paramref name="key"/> (1 to 512 bytes of UTF-8), which replaces the entry of that key, if any.</summary>
    public void BeginEntry(ReadOnlySpan<byte> key) => throw new NotImplementedException();

    /// <summary>Adds a text value (UTF-8), which the field's analyzer turns into terms.</summary>
    public void AddText(int field, ReadOnlySpan<byte> utf8) => throw new NotImplementedException();

    /// <summary>Adds a number.</summary>
    public void AddLong(int field, long value) => throw new NotImplementedException();

    /// <summary>Adds a number; NaN is taken as null.</summary>
    public void AddDouble(int field, double value) => throw new NotImplementedException();

    /// <summary>Adds <c>true</c> or <c>false</c>.</summary>
    public void AddBoolean(int field, bool value) => throw new NotImplementedException();

    /// <summary>Adds an explicit null: the field exists and has no value.</summary>
    public void AddNull(int field) => throw new NotImplementedException();

    /// <summary>Ends the entry.</summary>
    public void EndEntry() => throw new NotImplementedException();

    /// <summary>Removes the entry of this key, if any.</summary>
    public void Delete(ReadOnlySpan<byte> key) => throw new NotImplementedException();
}
