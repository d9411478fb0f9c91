namespace Treepie;

/// <summary>Settings and limits of a database. Immutable.</summary>
public sealed record DatabaseOptions
{
    /// <summary>Name used in messages and in clients; null takes the directory's.</summary>
    public string? Name { get; init; }

    /// <summary>Longest document, in bytes of JSON. Default 32 MiB.</summary>
    public int MaxDocumentBytes { get; init; } = 32 * 1024 * 1024;

    /// <summary>Deepest nesting of a document. Default 128.</summary>
    public int MaxDocumentDepth { get; init; } = 128;

    /// <summary>Longest document id in UTF-8 bytes. 512 is the format's limit.</summary>
    public int MaxIdBytes { get; init; } = 512;

    /// <summary>Longest a query may run. Default 60 seconds.</summary>
    public TimeSpan MaxQueryTime { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Longest a query may wait for an index, and the default of such a wait. Default 15 seconds.</summary>
    public TimeSpan DefaultStaleWait { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>The clock.</summary>
    public TimeProvider TimeProvider { get; init; } = TimeProvider.System;
}
