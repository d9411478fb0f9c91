namespace Treepie.Storage.Memory;

/// <summary>What came of bringing mapped pages into memory.</summary>
internal enum PopulateResult
{
    /// <summary>They are there, or the system has no such call and a read is the only way.</summary>
    Done,

    /// <summary>The disk could not deliver them.</summary>
    Failed,

    /// <summary>The kernel does not know the call: Linux before 5.14.</summary>
    Unknown,
}
