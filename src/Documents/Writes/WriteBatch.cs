namespace Treepie.Writes;

/// <summary>Commands that take effect together or not at all. Not thread-safe; used once.</summary>
public sealed class WriteBatch
{
    /// <summary>Commands in it.</summary>
    public int Count => throw new NotImplementedException();

    /// <summary>
    /// Puts a document. <paramref name="json"/> is one UTF-8 JSON object, which may hold <c>@metadata</c>; it must not change until the
    /// write is done. An id that ends in <c>/</c> gets a number from the server, one that ends in <c>|</c> the next identity.
    /// <paramref name="expectedChangeVector"/>: null: no check; empty: the document must not exist; else it must have this change vector.
    /// </summary>
    public WriteBatch Put(string id, ReadOnlyMemory<byte> json, string? expectedChangeVector = null) => throw new NotImplementedException();

    /// <summary>Deletes a document; deleting what is not there is no error unless a change vector is expected.</summary>
    public WriteBatch Delete(string id, string? expectedChangeVector = null) => throw new NotImplementedException();

    /// <summary>Deletes every document whose id starts with <paramref name="prefix"/>.</summary>
    public WriteBatch DeleteByPrefix(string prefix) => throw new NotImplementedException();
}
