namespace Treepie.Storage.Memory;

/// <summary>The result of loading mapped pages into memory.</summary>
internal enum PopulateResult
{
    /// <summary>The pages are in memory, or the system has no such call and they must simply be read.</summary>
    Done,

    /// <summary>The disk could not read them.</summary>
    Failed,

    /// <summary>The kernel does not support the call: Linux before 5.14.</summary>
    Unknown,
}
