namespace Treepie.Sessions;

/// <summary>Kinds of <see cref="SessionChange"/>.</summary>
public enum SessionChangeKind
{
    /// <summary>A new document is stored.</summary>
    DocumentAdded,

    /// <summary>A document is deleted.</summary>
    DocumentDeleted,

    /// <summary>A member or an array element is added.</summary>
    Added,

    /// <summary>A member or an array element is removed.</summary>
    Removed,

    /// <summary>A value changes.</summary>
    Changed,

    /// <summary>A patch sets a value of the stored document.</summary>
    ValueSet,

    /// <summary>A patch adds a number to a value of the stored document.</summary>
    ValueIncremented,

    /// <summary>A patch appends elements, given by the new value, to an array of the stored document.</summary>
    ElementsAdded,

    /// <summary>A patch removes the element at an index, given by the old value, from an array of the stored document.</summary>
    ElementRemovedAt,

    /// <summary>A patch removes the elements that equal the old value from an array of the stored document.</summary>
    ElementsRemoved,

    /// <summary>An attachment is stored.</summary>
    AttachmentPut,

    /// <summary>An attachment is deleted.</summary>
    AttachmentDeleted,

    /// <summary>A counter is incremented by the new value.</summary>
    CounterIncremented,

    /// <summary>A counter is deleted.</summary>
    CounterDeleted,

    /// <summary>An entry, with the values given by the new value, is appended to a time series.</summary>
    TimeSeriesAppended,

    /// <summary>Entries of a time series are deleted.</summary>
    TimeSeriesDeleted,

    /// <summary>A revision is created of the document's state before the save.</summary>
    RevisionForced,

    /// <summary>A compare-exchange value is stored.</summary>
    CompareExchangePut,

    /// <summary>A compare-exchange value is deleted.</summary>
    CompareExchangeDeleted,
}
