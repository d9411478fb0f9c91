namespace Treepie.Computing.Values;

/// <summary>An object created by a computation. It has few members, which are searched linearly.</summary>
internal sealed class ValueObject : IValueMembers
{
    private readonly List<KeyValuePair<string, Value>> _members = [];

    /// <summary>Adds a member, or replaces its value.</summary>
    public ValueObject With(string name, Value value)
    {
        int place = 0;
        while (place < _members.Count && _members[place].Key != name)
            place++;
        if (place == _members.Count)
            _members.Add(new(name, value));
        else
            _members[place] = new(name, value);
        return this;
    }

    public Value Get(string name)
    {
        foreach (KeyValuePair<string, Value> member in _members)
            if (member.Key == name)
                return member.Value;
        return Value.Missing;
    }

    public IEnumerable<KeyValuePair<string, Value>> All() => _members;
}
