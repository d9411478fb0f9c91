namespace Treepie.Computing.Values;

/// <summary>The members of an object.</summary>
internal interface IValueMembers
{
    /// <summary>A member; missing where there is none.</summary>
    Value Get(string name);

    /// <summary>All members, in their order.</summary>
    IEnumerable<KeyValuePair<string, Value>> All();
}
