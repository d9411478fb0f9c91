namespace Treepie.Backups;

/// <summary>The compression of a backup, which is detected when it is read.</summary>
public enum BackupCompression
{
    /// <summary>zstd at a low level: several times faster than gzip, and smaller than gzip's best. The default.</summary>
    ZstdFastest,

    /// <summary>zstd at a higher level: smaller than gzip's best, in less time.</summary>
    ZstdOptimal,

    /// <summary>gzip at its fastest level.</summary>
    GzipFastest,

    /// <summary>gzip at its default level; supported by every tool.</summary>
    GzipOptimal,

    /// <summary>No compression.</summary>
    None,
}
