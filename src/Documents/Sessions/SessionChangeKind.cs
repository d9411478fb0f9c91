namespace Treepie.Sessions;

/// <summary>Kinds of <see cref="SessionChange"/>.</summary>
public enum SessionChangeKind
{
    /// <summary>The document is new.</summary>
    DocumentAdded,

    /// <summary>The document goes.</summary>
    DocumentDeleted,

    /// <summary>A member, or an element of an array, is new.</summary>
    Added,

    /// <summary>A member, or an element of an array, goes.</summary>
    Removed,

    /// <summary>A value changes.</summary>
    Changed,

    /// <summary>A patch sets a value where the document is stored.</summary>
    ValueSet,

    /// <summary>A patch adds a number to a value where the document is stored.</summary>
    ValueIncremented,

    /// <summary>A patch adds elements, the new value, to an array where the document is stored.</summary>
    ElementsAdded,

    /// <summary>A patch removes the element at an index, the old value, of an array where the document is stored.</summary>
    ElementRemovedAt,

    /// <summary>A patch removes the elements that equal the old value from an array where the document is stored.</summary>
    ElementsRemoved,

    /// <summary>An attachment is put.</summary>
    AttachmentPut,

    /// <summary>An attachment goes.</summary>
    AttachmentDeleted,

    /// <summary>The new value is added to a counter.</summary>
    CounterIncremented,

    /// <summary>A counter goes.</summary>
    CounterDeleted,

    /// <summary>A time series gets an entry, whose values the new value has.</summary>
    TimeSeriesAppended,

    /// <summary>Entries of a time series go.</summary>
    TimeSeriesDeleted,

    /// <summary>The state that the document has before the save is kept.</summary>
    RevisionForced,

    /// <summary>The compare-exchange value of the key is put.</summary>
    CompareExchangePut,

    /// <summary>The compare-exchange value of the key goes.</summary>
    CompareExchangeDeleted,
}
