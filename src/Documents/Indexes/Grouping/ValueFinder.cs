using System.Text;
using System.Text.Json;
using Treepie.Indexes.Fields;

namespace Treepie.Indexes.Grouping;

/// <summary>
/// Finds the values at a path of an object. A value that is missing counts as one, undefined, but in an array that is missing or
/// empty there are none.
/// </summary>
internal sealed class ValueFinder(FieldPath path, List<FoundValue> found)
{
    private readonly List<(string Array, int Element)> _elements = [];

    public void Find(JsonElement root) => FindMember(root, 0, "");

    private void FindMember(JsonElement owner, int member, string place)
    {
        ReadOnlySpan<byte> name = path.NameOf(member);
        if (owner.ValueKind == JsonValueKind.Object && owner.TryGetProperty(name, out JsonElement value))
            FindValue(value, member, 0, $"{place}.{Encoding.UTF8.GetString(name)}");
        else
            AddMissing(member, 0);
    }

    private void FindValue(JsonElement value, int member, int level, string place)
    {
        bool isLast = member == path.Count - 1;
        if (value.ValueKind == JsonValueKind.Array && (!isLast || level < path.LevelsOf(member)))
        {
            FindElements(value, member, level, place);
            return;
        }

        if (path.ElementOf(member, level) >= 0 || value.ValueKind == JsonValueKind.Null)
            AddMissing(member, level);
        else if (isLast)
            Add(value);
        else
            FindMember(value, member + 1, place);
    }

    private void FindElements(JsonElement array, int member, int level, string place)
    {
        int wanted = path.ElementOf(member, level), index = 0;
        if (wanted >= array.GetArrayLength())
            AddMissing(member, level + 1);
        string name = place + "[]";
        foreach (JsonElement element in array.EnumerateArray())
        {
            if (wanted < 0)
            {
                _elements.Add((name, index));
                FindValue(element, member, level + 1, name);
                _elements.RemoveAt(_elements.Count - 1);
            }
            else if (wanted == index)
            {
                FindValue(element, member, level + 1, place);
            }

            index++;
        }
    }

    /// <summary>
    /// Nothing stands at a member, in so many arrays of it: one value that is missing, unless it would have been in a further
    /// array.
    /// </summary>
    private void AddMissing(int member, int level)
    {
        for (; member < path.Count; member++, level = 0)
            for (; level < path.LevelsOf(member); level++)
                if (path.ElementOf(member, level) < 0)
                    return;
        Add(default);
    }

    private void Add(JsonElement value) => found.Add(new FoundValue(value, [.. _elements]));
}
