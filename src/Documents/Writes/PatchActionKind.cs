namespace Treepie.Writes;

/// <summary>Kinds of <see cref="PatchAction"/>.</summary>
public enum PatchActionKind
{
    /// <summary>The script loaded a document.</summary>
    LoadDocument,

    /// <summary>The script stored a document.</summary>
    PutDocument,

    /// <summary>The script deleted a document.</summary>
    DeleteDocument,

    /// <summary>The script read a compare-exchange value.</summary>
    GetCompareExchangeValue,

    /// <summary>The script read a counter.</summary>
    GetCounter,

    /// <summary>The script incremented a counter.</summary>
    IncrementCounter,

    /// <summary>The script deleted a counter.</summary>
    DeleteCounter,

    /// <summary>The script read a time series.</summary>
    GetTimeSeries,

    /// <summary>The script appended entries to a time series or deleted ranges of it.</summary>
    ChangeTimeSeries,
}
