namespace Treepie.Computing.Values;

/// <summary>The members of an object.</summary>
internal interface IValueMembers
{
    /// <summary>Returns a member; missing if it does not exist.</summary>
    Value Get(string name);

    /// <summary>Returns all members, in order.</summary>
    IEnumerable<KeyValuePair<string, Value>> All();
}
