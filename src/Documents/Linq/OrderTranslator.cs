using System.Linq.Expressions;
using System.Text.Json.Serialization.Metadata;

namespace Treepie.Linq;

/// <summary>Translates sort keys: numbers sort as numbers, everything else as text.</summary>
internal static class OrderTranslator
{
    /// <summary>The error message for orders and ranges of durations.</summary>
    public const string Durations =
        "Durations are stored as text, which sorts otherwise. Store the ticks or seconds as a number.";

    /// <summary>The error message for keys and extremes of groups that are times with an offset.</summary>
    public const string Offsets =
        "Times with an offset are stored as text, so one moment is another text for each offset. Store its UtcDateTime as a "
        + "member of its own and group by that.";

    public static string Of(ConditionTranslator conditions, DocumentLambda key, bool descending)
    {
        PathTranslator paths = conditions.Paths;
        paths.EnterDocument(key);
        string direction = descending ? " desc" : "";
        if (paths.TryFind(key.Body) is not { IsRoot: false } path)
            return conditions.Computed(key.Body) is { } computed ? $"{computed}{direction}" : throw Refusal.Of(
                key.Body,
                "An order is by members as they are stored, the length of a text, and parts of a time. Store what else is to be "
                    + "sorted by as a member of its own, or sort what ToListAsync() gives.");
        Type type = Nullable.GetUnderlyingType(path.Type) ?? path.Type;
        bool isNamed = key.Body is MethodCallExpression { Method.Name: "ToString" };
        if (type.IsEnum && !isNamed && !IsNumber(paths, type))
            throw Refusal.Of(
                key.Body,
                $"{type.Name} is stored by name and sorts by name: write 'x => x.{path.Text}.ToString()' if that is meant, or "
                    + $"store a number.");
        if (type == typeof(TimeSpan))
            throw Refusal.Of(key.Body, Durations);
        if (type == typeof(char) && Type.GetTypeCode(Nullable.GetUnderlyingType(key.Body.Type) ?? key.Body.Type) is not (
            TypeCode.Char or TypeCode.Object))
            throw Refusal.Of(
                key.Body,
                $"Characters are stored and sorted as text, in which case does not matter: write 'x => x.{path.Text}' if that is "
                    + $"meant, or store a number.");
        bool isNumberedId = path.IsId && (type == typeof(int) || type == typeof(long));
        if (isNumberedId)
            return $"{path.Text} as alphaNumeric{direction}";
        string kind = path.IsId || isNamed ? "" : type.IsEnum ? " as long" : Type.GetTypeCode(type) switch
        {
            TypeCode.SByte or TypeCode.Byte or TypeCode.Int16 or TypeCode.UInt16 or TypeCode.Int32 or TypeCode.UInt32
                or TypeCode.Int64 => " as long",
            TypeCode.UInt64 or TypeCode.Single or TypeCode.Double or TypeCode.Decimal => " as double",
            _ => path.IsExtreme ? " as string" : "",
        };
        // Doubles round whole numbers beyond 2^53, and longs end at 2^63: together they tell most numbers apart.
        return Type.GetTypeCode(type) == TypeCode.UInt64 && kind.Length > 0
            ? $"{path.Text} as long{direction}, {path.Text} as double{direction}"
            : $"{path.Compared}{kind}{direction}";
    }

    /// <summary>Whether values of an enumeration are stored as numbers.</summary>
    public static bool IsNumber(PathTranslator paths, Type type)
    {
        if (paths.JsonOf(type) is not { } json)
            return false;
        using System.Text.Json.JsonDocument written = System.Text.Json.JsonSerializer.SerializeToDocument(
            ConditionTranslator.ValuesOf(type).FirstOrDefault() ?? Interpreter.DefaultOf(type), (JsonTypeInfo)json);
        return written.RootElement.ValueKind == System.Text.Json.JsonValueKind.Number;
    }
}
