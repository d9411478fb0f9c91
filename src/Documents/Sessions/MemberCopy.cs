using System.Collections;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Sessions;

/// <summary>
/// Copies the members that serialization knows from one object to another of the same type: all of them, or none.
/// </summary>
internal sealed class MemberCopy
{
    private readonly Stack<Action> _undo = [];

    /// <summary>
    /// Copies all members. Returns false, with the target unchanged, if a member that cannot be set or filled has changed, or if
    /// a setter throws.
    /// </summary>
    public bool TryRun(JsonSerializerOptions options, object from, object to)
    {
        bool isDone = false;
        try
        {
            isDone = TryCopy(options.GetTypeInfo(to.GetType()), from, to);
        }
        catch (Exception error) when (error is not OutOfMemoryException)
        {
            // As for a member that cannot be set.
        }

        while (!isDone && _undo.TryPop(out Action? undo))
            undo();
        return isDone;
    }

    private bool TryCopy(JsonTypeInfo type, object from, object to)
    {
        JsonPropertyInfo[] members = [.. type.Properties.Where(static member => member.Get is not null)];
        if (Array.Exists(
            members,
            member => member is { Set: null, AssociatedParameter: not null } && !IsWrittenAlike(member, from, to)))
            return false;

        // Setters are called even for equal values: types define Equals by less than what documents contain.
        foreach (JsonPropertyInfo member in members)
        {
            if (member.Set is { } set)
                Set(member, set, from, to);
            else if (IsFilled(type, member) && !IsWrittenAlike(member, from, to) && !TryFill(member, from, to))
                return false;
        }

        return true;
    }

    /// <summary>
    /// Sets a member to its value in another object. One that cannot be set and has not changed stays: source-generated metadata
    /// has setters for init-only members that throw.
    /// </summary>
    private void Set(JsonPropertyInfo member, Action<object, object?> set, object from, object to)
    {
        object? before = member.Get!(to), value = member.Get(from); // not null: members without a getter are left out
        try
        {
            set(to, value);
            _undo.Push(() => set(to, before));
        }
        catch (InvalidOperationException) when (IsWrittenAlike(member, from, to))
        {
        }
    }

    /// <summary>Whether deserialization adds to the value that a member without a setter has.</summary>
    private static bool IsFilled(JsonTypeInfo type, JsonPropertyInfo member) =>
        (member.ObjectCreationHandling ?? type.PreferredPropertyObjectCreationHandling
            ?? type.Options.PreferredObjectCreationHandling) == JsonObjectCreationHandling.Populate;

    /// <summary>Makes the value of a member equal to that in another object; false if there is no way to.</summary>
    private bool TryFill(JsonPropertyInfo member, object from, object to)
    {
        switch (member.Get!(from), member.Get(to)) // not null: as above
        {
            case (IDictionary fresh, IDictionary { IsReadOnly: false } known):
                DictionaryEntry[] entries = EntriesOf(known);
                _undo.Push(() => Replace(known.Clear, entries, entry => known.Add(entry.Key, entry.Value)));
                Replace(known.Clear, EntriesOf(fresh), entry => known.Add(entry.Key, entry.Value));
                return true;
            case (IList fresh, IList { IsReadOnly: false, IsFixedSize: false } known):
                object?[] items = [.. known.Cast<object?>()];
                _undo.Push(() => Replace(known.Clear, items, item => known.Add(item)));
                Replace(known.Clear, [.. fresh.Cast<object?>()], item => known.Add(item));
                return true;
            case ({ } fresh, { } known) when fresh.GetType() == known.GetType():
                JsonTypeInfo inner = member.Options.GetTypeInfo(known.GetType());
                return inner.Kind == JsonTypeInfoKind.Object && TryCopy(inner, fresh, known);
            default:
                return false;
        }
    }

    private static DictionaryEntry[] EntriesOf(IDictionary all)
    {
        var entries = new List<DictionaryEntry>();
        foreach (DictionaryEntry entry in all) // as a sequence, most dictionaries give pairs instead
            entries.Add(entry);
        return [.. entries];
    }

    private static void Replace<T>(Action clear, T[] items, Action<T> add)
    {
        clear();
        Array.ForEach(items, add);
    }

    /// <summary>Returns whether a member has the same JSON in two objects.</summary>
    private static bool IsWrittenAlike(JsonPropertyInfo member, object one, object other)
    {
        JsonTypeInfo type = member.Options.GetTypeInfo(member.PropertyType);
        byte[] Written(object entity) => JsonSerializer.SerializeToUtf8Bytes(member.Get!(entity), type); // not null: as above
        return Written(one).AsSpan().SequenceEqual(Written(other));
    }
}
