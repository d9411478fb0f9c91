namespace Treepie.Backups;

/// <summary>How a backup is compressed. Who reads it finds out by itself.</summary>
public enum BackupCompression
{
    /// <summary>zstd at a low level: several times faster than gzip, and smaller than its best. The default.</summary>
    ZstdFastest,

    /// <summary>zstd, a higher level: smaller than gzip's best in less time.</summary>
    ZstdOptimal,

    /// <summary>gzip at its fastest.</summary>
    GzipFastest,

    /// <summary>gzip as usual; every tool reads it.</summary>
    GzipOptimal,

    /// <summary>Not at all.</summary>
    None,
}
