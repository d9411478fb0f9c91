namespace Treepie.Json;

/// <summary>Keys of <c>@metadata</c> that the database itself gives and therefore never keeps from the input.</summary>
internal static class MetadataKeys
{
    /// <summary>The member of a document that holds its metadata.</summary>
    public static ReadOnlySpan<byte> Metadata => "@metadata"u8;

    /// <summary>The member of the metadata that names the collection.</summary>
    public static ReadOnlySpan<byte> Collection => "@collection"u8;

    /// <summary>The member of the metadata that says what a document has beside its body.</summary>
    public static ReadOnlySpan<byte> Flags => "@flags"u8;

    /// <summary>Whether a key names what a document has beside its body; <c>@flags</c> then stands beside it.</summary>
    public static bool IsBeside(ReadOnlySpan<byte> key) =>
        key.SequenceEqual("@attachments"u8) || key.SequenceEqual("@counters"u8) || key.SequenceEqual("@timeseries"u8);

    /// <summary>Whether a key is said anew with every answer: kept, it would be stale at once.</summary>
    public static bool IsGivenByDatabase(ReadOnlySpan<byte> key) =>
        key.Length >= 3 && key[0] == (byte)'@'
        && (key.SequenceEqual("@id"u8)
            || key.SequenceEqual("@collection"u8)
            || key.SequenceEqual("@change-vector"u8)
            || key.SequenceEqual("@last-modified"u8)
            || key.SequenceEqual("@etag"u8)
            || key.SequenceEqual("@index-score"u8)
            || key.SequenceEqual("@projection"u8)
            || key.SequenceEqual("@spatial"u8)
            || key.SequenceEqual("@attachments"u8)
            || key.SequenceEqual("@counters"u8)
            || key.SequenceEqual("@timeseries"u8));
}
