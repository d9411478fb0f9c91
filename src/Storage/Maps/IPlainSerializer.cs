namespace Treepie.Storage.Maps;

/// <summary>
/// Marks serializers that use the memory representation of a type without references. They can read any bytes of the right
/// length, so a reader may use them before it knows whether the bytes were changed concurrently.
/// </summary>
internal interface IPlainSerializer;
