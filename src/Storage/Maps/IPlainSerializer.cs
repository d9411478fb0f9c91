namespace Treepie.Storage.Maps;

/// <summary>
/// Marks serializers whose bytes are those of the value in memory, of a type without references: they can read any bytes of their
/// length, so a reader may do so before it knows that they were not changed meanwhile.
/// </summary>
internal interface IPlainSerializer;
