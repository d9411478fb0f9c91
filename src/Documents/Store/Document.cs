using System.Buffers;

namespace Treepie.Store;

/// <summary>A document as it lies in its page. Lives as long as its snapshot.</summary>
public readonly ref struct Document
{
    /// <summary>The id as it was first written (ids are compared without case), UTF-8.</summary>
    public ReadOnlySpan<byte> Id => throw new NotImplementedException();

    /// <summary>The collection's name, UTF-8; <c>@empty</c> where none was given.</summary>
    public ReadOnlySpan<byte> Collection => throw new NotImplementedException();

    /// <summary>Position in the document log; grows with every change of the database.</summary>
    public long Etag => throw new NotImplementedException();

    /// <summary>When it was written (UTC ticks).</summary>
    public long LastModifiedTicks => throw new NotImplementedException();

    /// <summary>The JSON object without <c>@metadata</c>, minified UTF-8.</summary>
    public ReadOnlySpan<byte> Body => throw new NotImplementedException();

    /// <summary>User metadata and client keys as a JSON object, minified UTF-8; <c>{}</c> where there is none.</summary>
    public ReadOnlySpan<byte> Metadata => throw new NotImplementedException();

    /// <summary>The change vector as clients see it.</summary>
    public string ChangeVector => throw new NotImplementedException();

    /// <summary>
    /// Writes the document as clients see it: its fields, then <c>@metadata</c> with user metadata, <c>@id</c>, <c>@collection</c>,
    /// <c>@change-vector</c>, <c>@last-modified</c>; with <paramref name="metadataOnly"/> only <c>{"@metadata":…}</c>.
    /// </summary>
    public void WriteTo(IBufferWriter<byte> output, bool metadataOnly = false) => throw new NotImplementedException();
}
