using System.Globalization;
using Treepie.Computing.Values;

namespace Treepie.Computing.CSharp;

/// <summary>Functions available in indexes only. Each public method is part of the vocabulary.</summary>
internal static class IndexFunctions
{
    /// <summary>The maximum depth of <c>Recurse</c> and <c>Hierarchy</c>.</summary>
    private const int MaxRecursion = 1_000;

    public static Value Id(Run run, Value document)
    {
        run.Step();
        return document.Kind == ValueKind.Object && document.Members is not DocumentMembers
            ? MemberAccess.Get(MemberAccess.Get(document, DocumentMembers.Metadata), "@id")
            : MemberAccess.Get(document, "Id");
    }

    public static Value MetadataFor(Run run, Value document)
    {
        run.Step();
        return MemberAccess.Get(document, DocumentMembers.Metadata);
    }

    public static Value AsJson(Run run, Value document)
    {
        run.Step();
        return document;
    }

    public static Value LoadDocument(Run run, Value id, Value collection)
    {
        run.Step();
        if (id.Kind == ValueKind.Array)
            return Value.Of(run.Each(id).Select(one => LoadDocument(run, one, collection)).ToList());
        if (id.Kind != ValueKind.String || id.Text.Length == 0)
            return Value.Null;
        return run.Host.Load(id.Text, collection.Text) is { } json ? Value.Of(new LoadedMembers(json)) : Value.Null;
    }

    public static Value LoadCompareExchangeValue(Run run, Value key)
    {
        run.Step();
        if (key.Kind == ValueKind.Array)
            return Value.Of(run.Each(key).Select(one => LoadCompareExchangeValue(run, one)).ToList());
        return key.Kind == ValueKind.String && run.Host.CompareExchange(key.Text) is { } json
            ? JsonValues.Read(json)
            : Value.Null;
    }

    public static Value CreateSpatialField(Run run, Value latitude, Value longitude)
    {
        run.Step();
        if (latitude.IsNothing || longitude.IsNothing)
            return Value.Missing;
        if (!latitude.IsNumber && latitude.Kind != ValueKind.String)
            throw new ComputingException(
                "'CreateSpatialField' takes a latitude and a longitude, two numbers, or one text of WKT.");
        return Value.Of(
            string.Create(
                CultureInfo.InvariantCulture, $"POINT ({Conversions.Double(longitude):R} {Conversions.Double(latitude):R})"));
    }

    public static Value CreateSpatialField(Run run, Value wkt)
    {
        run.Step();
        return wkt.IsNothing ? Value.Missing : wkt;
    }

    public static Value CreateVector(Run run, Value vector)
    {
        run.Step();
        return vector;
    }

    public static Value CreateField(Run run, Value name, Value value) => CreateField(run, name, value, Value.Missing);

    /// <summary>
    /// Creates a dynamic field; the options are an object, or a boolean that specifies whether the value is stored.
    /// </summary>
    public static Value CreateField(Run run, Value name, Value value, Value options)
    {
        run.Step();
        var field = new ValueObject().With("Name", Value.Of(Conversions.Text(name))).With("Value", value);
        if (options.Kind == ValueKind.Object)
            field.With("Indexing", options.Members.Get("Indexing")).With("Storage", options.Members.Get("Storage"));
        else if (options.IsTrue)
            field.With("Storage", Value.Of("Yes"));
        return Value.Of(new DynamicField(field));
    }

    public static Value CreateField(Run run, Value name, Value value, Value stored, Value analyzed)
    {
        run.Step();
        return CreateField(
            run, name, value,
            Value.Of(
                new ValueObject()
                    .With("Storage", Value.Of(stored.IsTrue ? "Yes" : "No"))
                    .With("Indexing", Value.Of(analyzed.IsTrue ? "Search" : "Exact"))));
    }

    /// <summary>Returns a value and all values reached by applying a function repeatedly, each once.</summary>
    public static Value Recurse(Run run, Value start, Func<Value, Value> next)
    {
        var found = new List<Value>();
        var seen = new HashSet<Value>();
        Descend(start, 0);
        return Value.Of(found);

        void Descend(Value value, int depth)
        {
            run.Step();
            if (depth > MaxRecursion)
                throw new ComputingException($"'Recurse' goes deeper than {MaxRecursion:N0}.");
            foreach (Value item in value.Kind == ValueKind.Array ? run.Each(value) : value.IsNothing ? [] : [value])
            {
                if (item.IsNothing || !seen.Add(item))
                    continue;
                found.Add(item);
                Descend(next(item), depth + 1);
            }
        }
    }

    /// <summary>Returns a value and its descendants in a recursive member.</summary>
    public static Value Hierarchy(Run run, Value start, Value member)
    {
        string name = Conversions.Text(member);
        return Recurse(run, start, value => MemberAccess.Get(value, name));
    }

    /// <summary>Returns the day of a time as a text.</summary>
    public static Value AsDateOnly(Run run, Value time) => StaticMethods.DateOnly_Parse(run, time);

    /// <summary>Returns the time of the day of a time as a text.</summary>
    public static Value AsTimeOnly(Run run, Value time) => StaticMethods.TimeOnly_Parse(run, time);

    public static Value CounterNamesFor(Run run, Value document) => Names(run, document, "@counters");

    public static Value TimeSeriesNamesFor(Run run, Value document) => Names(run, document, "@timeseries");

    public static Value AttachmentsFor(Run run, Value document) => Names(run, document, "@attachments");

    /// <summary>Returns an attachment of the mapped document, without its content.</summary>
    public static Value LoadAttachment(Run run, Value document, Value name)
    {
        run.Step();
        Value id = Id(run, document);
        return id.Kind == ValueKind.String
            && name.Kind == ValueKind.String
            && run.Host.Attachment(id.Text, name.Text) is { } json
            ? Value.Of(new AttachmentMembers(run.Host, id.Text, name.Text, json))
            : Value.Null;
    }

    public static Value LoadAttachments(Run run, Value document) => Value.Of(
        run.Each(AttachmentsFor(run, document))
            .Select(one => LoadAttachment(run, document, MemberAccess.Get(one, "Name")))
            .ToList());

    private static Value Names(Run run, Value document, string key)
    {
        Value names = MemberAccess.Get(MetadataFor(run, document), key);
        return names.IsNothing ? Value.Of([]) : names;
    }
}
