using System.Text.Json;

namespace Treepie.Indexes.Fields;

/// <summary>
/// Several paths combined: one pass over a document finds the values of all of them, and skips everything else without
/// parsing inside. Immutable, thread-safe.
/// </summary>
internal sealed class PathTree
{
    private static readonly Node _whole = new([], null) { Slots = { 0 } };

    private readonly Node _root = new([], null);
    private readonly List<Node> _single = [];

    /// <summary>
    /// Builds the tree of paths with the slots of their values, without <paramref name="skipMembers"/> leading members. If
    /// <paramref name="expandsMaps"/>, the members <c>$Keys</c> and <c>$Values</c> denote all names and values of an object.
    /// </summary>
    public PathTree(IReadOnlyList<(FieldPath Path, int Slot)> paths, int skipMembers = 0, bool expandsMaps = false)
    {
        foreach ((FieldPath path, int slot) in paths)
        {
            // A path that selects an element, or all members, has its own tree: it does not get what other paths need.
            bool isSingle = path.HasElementIndex || (expandsMaps && HasMapMember(path));
            Node start = _root;
            if (isSingle)
                _single.Add(start = new Node([], null));

            for (int i = skipMembers; i < path.Count; i++)
            {
                start = start.Child(path.NameOf(i), isSingle ? path : null, i);
                start.Matches = !expandsMaps ? MemberMatch.Name : MatchOf(path.NameOf(i));
            }

            start.Slots.Add(slot);
        }
    }

    public bool IsEmpty => _root.Children.Count == 0 && _single.Count == 0;

    /// <summary>Calls the sink for every value at one of the paths.</summary>
    /// <param name="json">One JSON object.</param>
    /// <param name="sink">Receives the values.</param>
    public void Visit<TSink>(ReadOnlySpan<byte> json, ref TSink sink)
        where TSink : struct, IFieldSink, allows ref struct
    {
        if (_root.Children.Count > 0)
            VisitFrom(_root, json, ref sink);

        foreach (Node start in _single)
            VisitFrom(start, json, ref sink);
    }

    /// <summary>Calls the sink for a whole value of any type, as slot 0.</summary>
    /// <param name="json">One JSON value.</param>
    /// <param name="sink">Receives the value, or its elements if it is an array.</param>
    public static void VisitWhole<TSink>(ReadOnlySpan<byte> json, ref TSink sink)
        where TSink : struct, IFieldSink, allows ref struct => VisitFrom(_whole, json, ref sink);

    private static bool HasMapMember(FieldPath path)
    {
        for (int i = 0; i < path.Count; i++)
            if (MatchOf(path.NameOf(i)) != MemberMatch.Name)
                return true;

        return false;
    }

    private static MemberMatch MatchOf(ReadOnlySpan<byte> name) =>
        name.SequenceEqual("$Keys"u8) ? MemberMatch.Keys
        : name.SequenceEqual("$Values"u8) ? MemberMatch.Values
        : MemberMatch.Name;

    private static void VisitFrom<TSink>(Node node, ReadOnlySpan<byte> json, ref TSink sink)
        where TSink : struct, IFieldSink, allows ref struct
    {
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = MaxDepth });
        reader.Read();
        VisitValue(node, ref reader, 0, ref sink);
    }

    /// <summary>The maximum depth of JSON that is read; the limit for documents is far lower.</summary>
    private const int MaxDepth = 1024;

    /// <summary>Requires the reader at the first token of a value; leaves it at the last.</summary>
    private static void VisitValue<TSink>(Node node, ref Utf8JsonReader reader, int level, ref TSink sink)
        where TSink : struct, IFieldSink, allows ref struct
    {
        if (node.ElementAt(level) >= 0 && reader.TokenType != JsonTokenType.StartArray)
        {
            reader.Skip(); // only arrays have elements
            return;
        }

        switch (reader.TokenType)
        {
            case JsonTokenType.StartObject:
                VisitObject(node, ref reader, ref sink);
                break;
            case JsonTokenType.StartArray:
                VisitArray(node, ref reader, level, ref sink);
                break;
            default:
                foreach (int slot in node.Slots)
                    sink.Value(slot, ref reader);
                break;
        }
    }

    private static void VisitObject<TSink>(Node node, ref Utf8JsonReader reader, ref TSink sink)
        where TSink : struct, IFieldSink, allows ref struct
    {
        // Sinks get a copy of the reader, so that each can read the object to its end.
        foreach (int slot in node.Slots)
        {
            Utf8JsonReader inside = reader;
            sink.Object(slot, ref inside);
        }

        if (node.Children.Count == 0)
        {
            reader.Skip();
            return;
        }

        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            Node? child = Find(node, ref reader);
            if (child is { Matches: MemberMatch.Keys })
            {
                foreach (int slot in child.Slots)
                    sink.Value(slot, ref reader);
                child = null;
            }

            reader.Read();
            if (child is null)
                reader.Skip();
            else
                VisitValue(child, ref reader, 0, ref sink);
        }
    }

    private static void VisitArray<TSink>(Node node, ref Utf8JsonReader reader, int level, ref TSink sink)
        where TSink : struct, IFieldSink, allows ref struct
    {
        int wanted = node.ElementAt(level);
        foreach (int slot in node.Slots)
        {
            Utf8JsonReader inside = reader;
            if (wanted < 0)
                sink.StartOfArray(slot, ref inside);
        }

        int index = 0;
        for (; reader.Read() && reader.TokenType != JsonTokenType.EndArray; index++)
        {
            if (wanted < 0 || wanted == index)
                VisitValue(node, ref reader, level + 1, ref sink);
            else
                reader.Skip();
        }

        if (index == 0 && wanted < 0)
            foreach (int slot in node.Slots)
                sink.EmptyArray(slot);
    }

    private static Node? Find(Node node, ref Utf8JsonReader reader)
    {
        foreach (Node child in node.Children)
            if (child.Matches != MemberMatch.Name || reader.ValueTextEquals(child.Name))
                return child;

        return null;
    }

    private enum MemberMatch
    {
        Name,
        Keys,
        Values,
    }

    private sealed class Node(byte[] name, FieldPath? path, int member = 0)
    {
        public byte[] Name { get; } = name;

        public List<Node> Children { get; } = [];

        public List<int> Slots { get; } = [];

        public MemberMatch Matches { get; set; }

        public int ElementAt(int level) => path?.ElementOf(member, level) ?? -1;

        public Node Child(ReadOnlySpan<byte> name, FieldPath? path, int member)
        {
            foreach (Node child in Children)
                if (name.SequenceEqual(child.Name))
                    return child;

            var added = new Node(name.ToArray(), path, member);
            Children.Add(added);
            return added;
        }
    }
}
