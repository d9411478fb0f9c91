namespace Treepie.Writes;

/// <summary>What a script did beside its document.</summary>
public enum PatchActionKind
{
    /// <summary>It loaded a document.</summary>
    LoadDocument,

    /// <summary>It put a document.</summary>
    PutDocument,

    /// <summary>It deleted a document.</summary>
    DeleteDocument,

    /// <summary>It read a compare-exchange value.</summary>
    GetCompareExchangeValue,

    /// <summary>It read a counter.</summary>
    GetCounter,

    /// <summary>It added to a counter.</summary>
    IncrementCounter,

    /// <summary>It deleted a counter.</summary>
    DeleteCounter,

    /// <summary>It read a time series.</summary>
    GetTimeSeries,

    /// <summary>It added entries to a time series, or deleted ranges of it.</summary>
    ChangeTimeSeries,
}
